/* Text that is written by a format (C11 7.21.6): the letters go to memory, one after the other, or nowhere. A number has
   letters where it is known. */
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

void __synth_stops(const char *why);
void __synth_refuses(const char *what);
_Bool __synth_is_known(unsigned long value); /* whether a number is known before the program runs */
unsigned long __synth_untold(const char *what);
long __synth_apart(const void *one, const void *other); /* how far apart in one object, INT_MAX in different ones */

/* Where letters go: the first "size" to memory, of which the last one ends the text. "kept": whether they are kept at
   all; "untold": whether how many there are is not known; "limit": where a string begins that has been read. */
typedef struct { char *target; size_t size, count; _Bool kept, untold; size_t limit; } format_text;

static void format_put(format_text *text, char letter)
{
    if (text->kept && text->count + 1 < text->size) {
        if (text->count >= text->limit)
            __synth_stops("overlap");
        text->target[text->count] = letter;
    }
    text->count++;
}

static void format_fill(format_text *text, char letter, int count)
{
    for (; count > 0; count--)
        format_put(text, letter);
}

typedef struct { _Bool left, plus, space, alternative, zeros; int width, precision; } format_form;

/* Letters of a number, the last one first, and how many there are. */
static int format_digits(char *digits, unsigned long value, unsigned base, char letter_of_ten)
{
    int count = 0;
    for (; value; value /= base) {
        unsigned digit = value % base;
        digits[count++] = (char)(digit < 10 ? '0' + digit : letter_of_ten + digit - 10);
    }
    return count;
}

static void format_number(format_text *text, format_form form, char letter, unsigned long value, _Bool negative)
{
    if (!__synth_is_known(value)) {
        if (text->kept)
            __synth_refuses("the text of a number that memory gives");
        text->untold = 1;
        return;
    }
    char digits[3 * sizeof value], sign[2];
    unsigned base = letter == 'o' ? 8 : letter == 'x' || letter == 'X' || letter == 'p' ? 16 : 10;
    int count = format_digits(digits, value, base, letter == 'X' ? 'A' : 'a'), signs = 0;
    int least = form.precision < 0 ? 1 : form.precision;
    if (letter == 'd' && (negative || form.plus || form.space))
        sign[signs++] = negative ? '-' : form.plus ? '+' : ' ';
    if (letter == 'o' && form.alternative && least <= count)
        least = count + 1;
    if (letter == 'p' || (base == 16 && form.alternative && value)) {
        sign[signs++] = '0';
        sign[signs++] = letter == 'X' ? 'X' : 'x';
    }
    int zeros = least > count ? least - count : 0;
    if (form.zeros && !form.left && form.precision < 0 && form.width > signs + count + zeros)
        zeros = form.width - signs - count;
    int spaces = form.width - signs - zeros - count;
    if (!form.left)
        format_fill(text, ' ', spaces);
    for (int n = 0; n < signs; n++)
        format_put(text, sign[n]);
    format_fill(text, '0', zeros);
    while (count > 0)
        format_put(text, digits[--count]);
    if (form.left)
        format_fill(text, ' ', spaces);
}

/* A string of so many letters is not to be where text is written (7.21.6.5p2): not yet, and not later. */
static void format_apart(format_text *text, const char *from, int length)
{
    long apart = __synth_apart(from, text->target);
    if (apart + length < 0 || apart >= INT_MAX)
        return;
    if (apart <= (long)text->count)
        __synth_stops("overlap");
    if ((size_t)apart < text->limit)
        text->limit = apart;
}

static void format_string(format_text *text, format_form form, const char *from)
{
    int length = 0;
    while ((form.precision < 0 || length < form.precision) && from[length])
        length++;
    if (text->kept)
        format_apart(text, from, length);
    if (!form.left)
        format_fill(text, ' ', form.width - length);
    for (int n = 0; n < length; n++)
        format_put(text, from[n]);
    if (form.left)
        format_fill(text, ' ', form.width - length);
}

static void format_letter(format_text *text, format_form form, char letter)
{
    if (!form.left)
        format_fill(text, ' ', form.width - 1);
    format_put(text, letter);
    if (form.left)
        format_fill(text, ' ', form.width - 1);
}

static void format_real(format_text *text)
{
    if (text->kept)
        __synth_refuses("the text of a floating-point number");
    text->untold = 1;
}

/* The size of a number by the letters before its own: -2 to 2 for hh, h, none, l (and its like), ll. */
static long format_signed(va_list list, int size)
{
    switch (size) {
    case -2: return (signed char)va_arg(list, int);
    case -1: return (short)va_arg(list, int);
    case 0: return va_arg(list, int);
    case 1: return va_arg(list, long);
    default: return va_arg(list, long long);
    }
}

static unsigned long format_unsigned(va_list list, int size)
{
    switch (size) {
    case -2: return (unsigned char)va_arg(list, int);
    case -1: return (unsigned short)va_arg(list, int);
    case 0: return va_arg(list, unsigned);
    case 1: return va_arg(list, unsigned long);
    default: return va_arg(list, unsigned long long);
    }
}

static int format_whole(const char **place)
{
    int value = 0;
    for (; **place >= '0' && **place <= '9'; ++*place)
        value = 10 * value + (**place - '0');
    return value;
}

static const char *format_flags(const char *place, format_form *form)
{
    for (;; place++)
        switch (*place) {
        case '-': form->left = 1; break;
        case '+': form->plus = 1; break;
        case ' ': form->space = 1; break;
        case '#': form->alternative = 1; break;
        case '0': form->zeros = 1; break;
        default: return place;
        }
}

static const char *format_size(const char *place, int *size)
{
    for (;; place++)
        switch (*place) {
        case 'h': --*size; break;
        case 'l': ++*size; break;
        case 'j': case 'z': case 't': *size = 1; break;
        case 'L': *size = 3; break;
        default: return place;
        }
}

static void format_signed_number(format_text *text, format_form form, long value)
{
    if (!__synth_is_known((unsigned long)value))
        format_number(text, form, 'd', (unsigned long)value, 0);
    else
        format_number(text, form, 'd', value < 0 ? 0 - (unsigned long)value : (unsigned long)value, value < 0);
}

static void format_noted(void *where, int size, size_t count)
{
    switch (size) {
    case -2: *(signed char *)where = (signed char)count; break;
    case -1: *(short *)where = (short)count; break;
    case 0: *(int *)where = (int)count; break;
    default: *(long *)where = (long)count;
    }
}

/* Write one argument, or more, as what stands behind a % says; return what stands behind that. */
static const char *format_converted(format_text *text, const char *place, va_list list)
{
    format_form form = {0, 0, 0, 0, 0, 0, -1};
    int size = 0;
    place = format_flags(place, &form);
    if (*place == '*') {
        place++;
        form.width = va_arg(list, int);
        if (!__synth_is_known((unsigned long)form.width))
            __synth_refuses("a width that memory gives");
        if (form.width < 0) {
            form.left = 1;
            form.width = -form.width;
        }
    } else {
        form.width = format_whole(&place);
    }
    if (*place == '.') {
        place++;
        if (*place == '*') {
            place++;
            form.precision = va_arg(list, int);
            if (!__synth_is_known((unsigned long)form.precision))
                __synth_refuses("a precision that memory gives");
        } else {
            form.precision = format_whole(&place);
        }
    }
    place = format_size(place, &size);
    switch (*place) {
    case 'd': case 'i': format_signed_number(text, form, format_signed(list, size)); break;
    case 'u': case 'o': case 'x': case 'X': format_number(text, form, *place, format_unsigned(list, size), 0); break;
    case 'c': format_letter(text, form, (char)va_arg(list, int)); break;
    case 's':
        if (size)
            __synth_refuses("a string of wide letters");
        format_string(text, form, va_arg(list, const char *));
        break;
    case 'p':
        (void)va_arg(list, void *);
        if (text->kept)
            __synth_refuses("the text of an address");
        text->untold = 1;
        break;
    case 'e': case 'f': case 'g': case 'a': case 'E': case 'F': case 'G': case 'A':
        if (size == 3)
            (void)va_arg(list, long double);
        else
            (void)va_arg(list, double);
        format_real(text);
        break;
    case 'n':
        if (text->untold)
            __synth_refuses("a number of letters that is not known");
        format_noted(va_arg(list, void *), size, text->count);
        break;
    case '%': format_put(text, '%'); break;
    default: __synth_refuses("this format");
    }
    return place + 1;
}

static int format_format(format_text *text, const char *format, va_list list)
{
    while (*format)
        if (*format != '%')
            format_put(text, *format++);
        else
            format = format_converted(text, format + 1, list);
    va_end(list); /* it has no value now (7.16p3) */
    if (text->kept && (text->count < text->size ? text->count : text->size - 1) >= text->limit)
        __synth_stops("overlap");
    if (text->kept)
        text->target[text->count < text->size ? text->count : text->size - 1] = 0;
    return text->untold ? (int)__synth_untold("how many letters were written") : (int)text->count;
}

int vsnprintf(char *restrict target, size_t size, const char *restrict format, va_list list)
{
    format_text text = {target, size, 0, size > 0, 0, INT_MAX};
    return format_format(&text, format, list);
}

int vsprintf(char *restrict target, const char *restrict format, va_list list)
{
    format_text text = {target, INT_MAX, 0, 1, 0, INT_MAX};
    return format_format(&text, format, list);
}

int vfprintf(FILE *restrict stream, const char *restrict format, va_list list)
{
    format_text text = {0, 0, 0, 0, 0, INT_MAX};
    return format_format(&text, format, list);
}

int vprintf(const char *restrict format, va_list list)
{
    format_text text = {0, 0, 0, 0, 0, INT_MAX};
    return format_format(&text, format, list);
}

int snprintf(char *restrict target, size_t size, const char *restrict format, ...)
{
    va_list list;
    va_start(list, format);
    int count = vsnprintf(target, size, format, list);
    va_end(list);
    return count;
}

int sprintf(char *restrict target, const char *restrict format, ...)
{
    va_list list;
    va_start(list, format);
    int count = vsprintf(target, format, list);
    va_end(list);
    return count;
}
