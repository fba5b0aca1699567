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
