#pragma once
#define assert(expression) ((expression) ? (void)0 : __assert_fail(#expression))
#define static_assert _Static_assert
