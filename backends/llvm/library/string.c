/* Strings and memory as C11 7.24 has them: each letter is read or written, one after the other. */
#include <stddef.h>
#include <stdlib.h>

size_t strlen(const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

size_t strnlen(const char *text, size_t most)
{
    size_t length = 0;
    while (length < most && text[length])
        length++;
    return length;
}

char *strcpy(char *restrict target, const char *restrict text)
{
    size_t n = 0;
    do
        target[n] = text[n];
    while (text[n++]);
    return target;
}

char *stpcpy(char *restrict target, const char *restrict text)
{
    while ((*target = *text)) {
        target++;
        text++;
    }
    return target;
}

char *strncpy(char *restrict target, const char *restrict text, size_t count)
{
    size_t n = 0;
    for (; n < count && text[n]; n++)
        target[n] = text[n];
    for (; n < count; n++)
        target[n] = 0;
    return target;
}

char *strcat(char *restrict target, const char *restrict text)
{
    size_t start = 0, n = 0;
    while (target[start])
        start++;
    do
        target[start + n] = text[n];
    while (text[n++]);
    return target;
}

char *strncat(char *restrict target, const char *restrict text, size_t count)
{
    size_t start = 0, n = 0;
    while (target[start])
        start++;
    for (; n < count && text[n]; n++)
        target[start + n] = text[n];
    target[start + n] = 0;
    return target;
}

int strcmp(const char *one, const char *other)
{
    size_t n = 0;
    while (one[n] && one[n] == other[n])
        n++;
    return (unsigned char)one[n] - (unsigned char)other[n];
}

int strncmp(const char *one, const char *other, size_t count)
{
    for (size_t n = 0; n < count; n++)
        if (one[n] != other[n] || !one[n])
            return (unsigned char)one[n] - (unsigned char)other[n];
    return 0;
}

char *strchr(const char *text, int letter)
{
    for (;; text++) {
        if (*text == (char)letter)
            return (char *)text;
        if (!*text)
            return 0;
    }
}

char *strrchr(const char *text, int letter)
{
    const char *found = 0;
    for (;; text++) {
        if (*text == (char)letter)
            found = text;
        if (!*text)
            return (char *)found;
    }
}

char *strstr(const char *text, const char *part)
{
    for (;; text++) {
        size_t n = 0;
        while (part[n] && text[n] == part[n])
            n++;
        if (!part[n])
            return (char *)text;
        if (!*text)
            return 0;
    }
}

size_t strspn(const char *text, const char *letters)
{
    size_t length = 0;
    for (; text[length]; length++) {
        size_t n = 0;
        while (letters[n] && letters[n] != text[length])
            n++;
        if (!letters[n])
            break;
    }
    return length;
}

size_t strcspn(const char *text, const char *letters)
{
    size_t length = 0;
    for (; text[length]; length++) {
        size_t n = 0;
        while (letters[n] && letters[n] != text[length])
            n++;
        if (letters[n])
            break;
    }
    return length;
}

char *strdup(const char *text)
{
    size_t length = 0;
    while (text[length++]) { }
    char *copy = malloc(length);
    for (size_t n = 0; n < length; n++)
        copy[n] = text[n];
    return copy;
}

void *memchr(const void *bytes, int value, size_t count)
{
    const unsigned char *place = bytes;
    for (size_t n = 0; n < count; n++)
        if (place[n] == (unsigned char)value)
            return (void *)(place + n);
    return 0;
}

int memcmp(const void *one, const void *other, size_t count)
{
    const unsigned char *left = one, *right = other;
    for (size_t n = 0; n < count; n++)
        if (left[n] != right[n])
            return left[n] - right[n];
    return 0;
}

static int digit(char letter)
{
    return letter >= '0' && letter <= '9' ? letter - '0'
         : letter >= 'a' && letter <= 'z' ? letter - 'a' + 10
         : letter >= 'A' && letter <= 'Z' ? letter - 'A' + 10 : 36;
}

/* Numbers that are too large are LONG_MAX or LONG_MIN (C11 7.22.1.4p8); errno is left as it is. */
long strtol(const char *restrict text, char **restrict end, int base)
{
    const char *place = text;
    while (*place == ' ' || (*place >= '\t' && *place <= '\r'))
        place++;
    int negative = *place == '-', any = 0;
    if (*place == '-' || *place == '+')
        place++;
    if ((base == 0 || base == 16) && place[0] == '0' && (place[1] | 32) == 'x' && digit(place[2]) < 16) {
        place += 2;
        base = 16;
    } else if (base == 0) {
        base = place[0] == '0' ? 8 : 10;
    }
    unsigned long value = 0, most = negative ? 1ul << 63 : (1ul << 63) - 1;
    for (; digit(*place) < base; place++) {
        unsigned long next = (unsigned long)digit(*place);
        value = value > (most - next) / (unsigned long)base ? most : value * (unsigned long)base + next;
        any = 1;
    }
    if (end)
        *end = (char *)(any ? place : text);
    return negative ? (long)-value : (long)value;
}

int atoi(const char *text) { return (int)strtol(text, 0, 10); }
long atol(const char *text) { return strtol(text, 0, 10); }

char *strtok_r(char *restrict text, const char *restrict letters, char **restrict saved)
{
    char *place = text ? text : *saved;
    if (!place)
        return 0;
    while (*place && strchr(letters, *place))
        place++;
    char *word = *place ? place : 0;
    while (*place && !strchr(letters, *place))
        place++;
    *saved = *place ? place + 1 : 0;
    if (*place && word)
        *place = 0;
    return word;
}

static char *strtok_saved;
char *strtok(char *restrict text, const char *restrict letters) { return strtok_r(text, letters, &strtok_saved); }

/* Exchange an element with the next one: by words where they are words, which may be addresses. */
static void swap(char *one, size_t size)
{
    if (size % sizeof(long) == 0) {
        for (size_t n = 0; n < size; n += sizeof(long)) {
            long *word = (long *)(one + n), *other = (long *)(one + size + n), held = *word;
            *word = *other;
            *other = held;
        }
        return;
    }
    for (size_t n = 0; n < size; n++) {
        char held = one[n];
        one[n] = one[size + n];
        one[size + n] = held;
    }
}

/* The order of elements that are equal is one of those that C allows (7.22.5.2p4). */
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    char *bytes = base;
    for (size_t n = 1; n < count; n++)
        for (size_t m = n; m > 0 && compare(bytes + (m - 1) * size, bytes + m * size) > 0; m--)
            swap(bytes + (m - 1) * size, size);
}

void *bsearch(const void *key, const void *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    const char *bytes = base;
    while (count > 0) {
        const char *middle = bytes + count / 2 * size;
        int found = compare(key, middle);
        if (found == 0)
            return (void *)middle;
        if (found > 0) {
            bytes = middle + size;
            count -= count / 2 + 1;
        } else {
            count /= 2;
        }
    }
    return 0;
}
