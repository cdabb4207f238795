#include <stdlib.h>
void llvmGetPassPluginInfo(void) { abort(); }
