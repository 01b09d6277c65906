// SPDX-License-Identifier: GPL-2.0-only
/* The plug-in "netsync" of Babeltrace 2. */
#include "correct.h"

BT_PLUGIN_MODULE();

BT_PLUGIN(netsync);
BT_PLUGIN_DESCRIPTION("Brings traces of several machines onto one clock");
BT_PLUGIN_AUTHOR("netsync");
BT_PLUGIN_LICENSE("GPL-2.0-only");

BT_PLUGIN_FILTER_COMPONENT_CLASS(correct, correct_next);
BT_PLUGIN_FILTER_COMPONENT_CLASS_DESCRIPTION(correct,
	"Correct times by a result of \"netsync sync\"");
BT_PLUGIN_FILTER_COMPONENT_CLASS_HELP(correct, correct_help);
BT_PLUGIN_FILTER_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD(correct,
	correct_get_mip_versions);
BT_PLUGIN_FILTER_COMPONENT_CLASS_INITIALIZE_METHOD(correct, correct_initialize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_FINALIZE_METHOD(correct, correct_finalize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_INPUT_PORT_CONNECTED_METHOD(correct,
	correct_input_connected);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(correct,
	correct_iterator_initialize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(correct,
	correct_iterator_finalize);
