// The one header through which tests see Catch2. A test of a folder that knows torch includes its torch headers first:
// those define a macro CHECK of their own, which is removed here.
#pragma once

#undef CHECK
#include <catch2/catch.hpp>
