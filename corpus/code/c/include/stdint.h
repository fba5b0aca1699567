#pragma once
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef int8_t int_fast8_t, int_least8_t;
typedef uint8_t uint_fast8_t, uint_least8_t;
typedef long int_fast16_t, int_fast32_t, int_fast64_t;
typedef unsigned long uint_fast16_t, uint_fast32_t, uint_fast64_t;
typedef long intptr_t, intmax_t;
typedef unsigned long uintptr_t, uintmax_t;
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295U
#define INT64_MIN (-9223372036854775807L - 1)
#define INT64_MAX 9223372036854775807L
#define UINT64_MAX 18446744073709551615UL
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define SIZE_MAX UINT64_MAX
#define UINT64_C(n) n##UL
#define INT64_C(n) n##L
#define UINT32_C(n) n##U
#define INT32_C(n) n
