// SPDX-License-Identifier: GPL-2.0-only
/* The plug-in "netsync" for Babeltrace 2. */
#include "correct.h"
#include "merge.h"
#include "source.h"

BT_PLUGIN_MODULE();

BT_PLUGIN(netsync);
BT_PLUGIN_DESCRIPTION("Correct the times of traces of several machines to one clock");
BT_PLUGIN_AUTHOR("netsync");
BT_PLUGIN_LICENSE("GPL-2.0-only");

BT_PLUGIN_FILTER_COMPONENT_CLASS(correct, merge_next);
BT_PLUGIN_FILTER_COMPONENT_CLASS_DESCRIPTION(correct,
					     "Correct times with a result of \"netsync sync\"");
BT_PLUGIN_FILTER_COMPONENT_CLASS_HELP(correct, correct_help);
BT_PLUGIN_FILTER_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD(correct,
								   correct_get_mip_versions);
BT_PLUGIN_FILTER_COMPONENT_CLASS_INITIALIZE_METHOD(correct, correct_initialize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_FINALIZE_METHOD(correct, correct_finalize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_INPUT_PORT_CONNECTED_METHOD(correct, correct_input_connected);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(correct,
									  merge_initialize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(correct,
									       merge_seek_beginning,
									       NULL);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(correct, merge_finalize);

BT_PLUGIN_SOURCE_COMPONENT_CLASS(fs, merge_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(
	fs, "Read CTF traces, and correct their times with a result of \"netsync sync\"");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_HELP(fs, source_help);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD(fs, source_get_mip_versions);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(fs, source_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(fs, source_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(fs, merge_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(fs,
									       merge_seek_beginning,
									       NULL);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(fs, merge_finalize);
