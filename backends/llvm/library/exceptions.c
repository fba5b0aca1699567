/* The exceptions that the C++ library leaves in its libraries (C++ Standard, std.exceptions): an object has the address of
   its table of virtual functions, and behind it its text. The names of what is here, for the reader of this file:
   _ZNSt9exceptionD1Ev _ZNSt9exceptionD2Ev _ZNKSt9exception4whatEv _ZNSt11logic_errorD1Ev _ZNSt11logic_errorD2Ev
   _ZNSt13runtime_errorD1Ev _ZNSt13runtime_errorD2Ev _ZNSt12domain_errorD1Ev _ZNSt16invalid_argumentD1Ev
   _ZNSt12length_errorD1Ev _ZNSt12out_of_rangeD1Ev _ZNSt11range_errorD1Ev _ZNSt14overflow_errorD1Ev
   _ZNSt15underflow_errorD1Ev _ZNSt9bad_allocD1Ev _ZNSt8bad_castD1Ev _ZNKSt11logic_error4whatEv
   _ZNKSt13runtime_error4whatEv _ZNSt18bad_variant_accessD1Ev _ZNSt19bad_optional_accessD1Ev */
#include <stddef.h>
#include <stdlib.h>

#define NAMED(name) __asm__(#name)

typedef struct { const void *const *table; const char *text; } synth_error;

#define ERROR(class, text)                                                                                              \
    extern const char class##_type NAMED(_ZTI##class);                                                                  \
    void class##_ended(synth_error *error) NAMED(_ZN##class##D1Ev);                                                     \
    void class##_ended(synth_error *error) { }                                                                          \
    void class##_ended_(synth_error *error) NAMED(_ZN##class##D2Ev);                                                    \
    void class##_ended_(synth_error *error) { }                                                                         \
    void class##_deleted(synth_error *error) NAMED(_ZN##class##D0Ev);                                                   \
    void class##_deleted(synth_error *error) { free(error); }                                                           \
    const char *class##_what(const synth_error *error) NAMED(_ZNK##class##4whatEv);                                     \
    const char *class##_what(const synth_error *error) { return text; }                                                 \
    extern const void *const class##_table[5] NAMED(_ZTV##class);                                                       \
    const void *const class##_table[5] = {0, &class##_type, class##_ended, class##_deleted, class##_what};

#define MADE(class, arguments, given)                                                                                   \
    void class##arguments##_made(synth_error *error, const void *text) NAMED(_ZN##class##C1E##arguments);               \
    void class##arguments##_made(synth_error *error, const void *text)                                                  \
    {                                                                                                                   \
        error->table = &class##_table[2];                                                                               \
        error->text = given;                                                                                            \
    }                                                                                                                   \
    void class##arguments##_made_(synth_error *error, const void *text) NAMED(_ZN##class##C2E##arguments);              \
    void class##arguments##_made_(synth_error *error, const void *text) { class##arguments##_made(error, text); }

#define COPIED(class)                                                                                                   \
    void class##_copied(synth_error *error, const synth_error *other) NAMED(_ZN##class##C1ERKS_);                       \
    void class##_copied(synth_error *error, const synth_error *other)                                                   \
    {                                                                                                                   \
        error->table = &class##_table[2];                                                                               \
        error->text = other->text;                                                                                      \
    }                                                                                                                   \
    void class##_copied_(synth_error *error, const synth_error *other) NAMED(_ZN##class##C2ERKS_);                      \
    void class##_copied_(synth_error *error, const synth_error *other) { class##_copied(error, other); }

ERROR(St9exception, "std::exception")
ERROR(St20bad_array_new_length, "std::bad_array_new_length")
ERROR(St9bad_alloc, "std::bad_alloc")
ERROR(St8bad_cast, "std::bad_cast")
ERROR(St18bad_variant_access, "bad_variant_access")
ERROR(St19bad_optional_access, "bad_optional_access")
ERROR(St11logic_error, error->text)
ERROR(St12domain_error, error->text)
ERROR(St16invalid_argument, error->text)
ERROR(St12length_error, error->text)
ERROR(St12out_of_range, error->text)
ERROR(St13runtime_error, error->text)
ERROR(St11range_error, error->text)
ERROR(St14overflow_error, error->text)
ERROR(St15underflow_error, error->text)

COPIED(St11logic_error) /* _ZNSt11logic_errorC1ERKS_ _ZNSt11logic_errorC2ERKS_ */
COPIED(St13runtime_error) /* _ZNSt13runtime_errorC1ERKS_ _ZNSt13runtime_errorC2ERKS_ */
MADE(St11logic_error, PKc, text) /* _ZNSt11logic_errorC1EPKc _ZNSt11logic_errorC2EPKc */
MADE(St13runtime_error, PKc, text) /* _ZNSt13runtime_errorC1EPKc _ZNSt13runtime_errorC2EPKc */
MADE(St11logic_error, RKNSt3__112basic_stringIcNS0_11char_traitsIcEENS0_9allocatorIcEEEE, "a text")
/* _ZNSt11logic_errorC1ERKNSt3__112basic_stringIcNS0_11char_traitsIcEENS0_9allocatorIcEEEE
   _ZNSt11logic_errorC2ERKNSt3__112basic_stringIcNS0_11char_traitsIcEENS0_9allocatorIcEEEE */
MADE(St13runtime_error, RKNSt3__112basic_stringIcNS0_11char_traitsIcEENS0_9allocatorIcEEEE, "a text")
/* _ZNSt13runtime_errorC1ERKNSt3__112basic_stringIcNS0_11char_traitsIcEENS0_9allocatorIcEEEE
   _ZNSt13runtime_errorC2ERKNSt3__112basic_stringIcNS0_11char_traitsIcEENS0_9allocatorIcEEEE */
MADE(St9bad_alloc, v, NULL) /* _ZNSt9bad_allocC1Ev _ZNSt9bad_allocC2Ev */
MADE(St20bad_array_new_length, v, NULL) /* _ZNSt20bad_array_new_lengthC1Ev _ZNSt20bad_array_new_lengthC2Ev */
MADE(St8bad_cast, v, NULL) /* _ZNSt8bad_castC1Ev _ZNSt8bad_castC2Ev */

/* Exceptions in the name space of libc++ */
#define INNER(number, class)                                                                                            \
    void class##_ended(synth_error *error) NAMED(_ZNSt3__1##number##class##D1Ev);                                       \
    void class##_ended(synth_error *error) { }                                                                          \
    void class##_ended_(synth_error *error) NAMED(_ZNSt3__1##number##class##D2Ev);                                      \
    void class##_ended_(synth_error *error) { }                                                                         \
    void class##_deleted(synth_error *error) NAMED(_ZNSt3__1##number##class##D0Ev);                                     \
    void class##_deleted(synth_error *error) { free(error); }                                                           \
    const char *class##_what(const synth_error *error) NAMED(_ZNKSt3__1##number##class##4whatEv);                       \
    const char *class##_what(const synth_error *error) { return #class; }
INNER(12, bad_weak_ptr)
INNER(17, bad_function_call)
INNER(12, system_error)
/* _ZNSt3__112bad_weak_ptrD1Ev _ZNSt3__112bad_weak_ptrD0Ev _ZNKSt3__112bad_weak_ptr4whatEv
   _ZNSt3__117bad_function_callD1Ev _ZNSt3__117bad_function_callD0Ev _ZNKSt3__117bad_function_call4whatEv
   _ZNSt3__112system_errorD1Ev _ZNSt3__112system_errorD0Ev _ZNKSt3__112system_error4whatEv */
