/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * OTF2's library, libopen-trace-format2, which is loaded when the first archive is read: few users
 * have archives, so it is no dependency of libnetsync-io. Its functions are called without the
 * prefix: otf2->Reader_Open().
 */
#ifndef NETSYNC_IO_OTF2_LIBRARY_H
#define NETSYNC_IO_OTF2_LIBRARY_H

#include <otf2/otf2.h>

/* Events that are read. */
#define OTF2_EVENTS(X)                   \
	X(Enter);                        \
	X(Leave);                        \
	X(ProgramBegin);                 \
	X(ProgramEnd);                   \
	X(MeasurementOnOff);             \
	X(MpiSend);                      \
	X(MpiIsend);                     \
	X(MpiRecv);                      \
	X(MpiIrecv);                     \
	X(MpiCollectiveBegin);           \
	X(MpiCollectiveEnd);             \
	X(NonBlockingCollectiveRequest); \
	X(NonBlockingCollectiveComplete)

/* Definitions that are read. */
#define OTF2_DEFINITIONS(X)      \
	X(ClockProperties);      \
	X(String);               \
	X(SystemTreeNode);       \
	X(SystemTreeNodeDomain); \
	X(LocationGroup);        \
	X(Location);             \
	X(Group);                \
	X(Comm)

#define OTF2_FUNCTIONS(X)                             \
	X(Error_RegisterCallback);                    \
	X(Error_GetDescription);                      \
	X(Reader_Open);                               \
	X(Reader_SetSerialCollectiveCallbacks);       \
	X(Reader_GetTraceId);                         \
	X(Reader_GetChunkSize);                       \
	X(Reader_GetGlobalDefReader);                 \
	X(Reader_RegisterGlobalDefCallbacks);         \
	X(Reader_ReadAllGlobalDefinitions);           \
	X(Reader_SelectLocation);                     \
	X(Reader_OpenDefFiles);                       \
	X(Reader_GetDefReader);                       \
	X(Reader_RegisterDefCallbacks);               \
	X(Reader_ReadAllLocalDefinitions);            \
	X(Reader_CloseDefReader);                     \
	X(Reader_CloseDefFiles);                      \
	X(Reader_OpenEvtFiles);                       \
	X(Reader_GetEvtReader);                       \
	X(Reader_RegisterEvtCallbacks);               \
	X(Reader_ReadLocalEvents);                    \
	X(Reader_CloseEvtReader);                     \
	X(EvtReader_ApplyClockOffsets);               \
	X(GlobalDefReaderCallbacks_New);              \
	X(DefReaderCallbacks_New);                    \
	X(DefReaderCallbacks_SetClockOffsetCallback); \
	X(EvtReaderCallbacks_New)

#define OTF2_MEMBER(name) __typeof__(&OTF2_##name) name
#define OTF2_EVENT_MEMBER(name) __typeof__(&OTF2_EvtReaderCallbacks_Set##name##Callback) set_##name
#define OTF2_DEFINITION_MEMBER(name) \
	__typeof__(&OTF2_GlobalDefReaderCallbacks_Set##name##Callback) set_##name

struct otf2_library {
	OTF2_FUNCTIONS(OTF2_MEMBER);
	OTF2_EVENTS(OTF2_EVENT_MEMBER);
	OTF2_DEFINITIONS(OTF2_DEFINITION_MEMBER);
};

/* Load the library. Return NULL if it is not installed; *@why is a clause. */
const struct otf2_library *otf2_load_library(const char **why);

#endif
