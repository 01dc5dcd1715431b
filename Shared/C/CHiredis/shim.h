#pragma once
#include <hiredis/hiredis.h>
#include <stddef.h>

/* Hides the differences between hiredis 0.14 (Debian 12) and 1.x (newer distributions): the type of an array's length and the
 * members that 1.x added to the table of functions. Swift sees one callback for every value of a reply. */

#if HIREDIS_MAJOR >= 1
typedef size_t chiredis_length;
#else
typedef int chiredis_length;
#endif

/* Receives the values of replies in preorder: an array comes before its elements. */
typedef struct chiredis_sink {
    void *context;
    /* kind: REDIS_REPLY_…; bytes, length: the text of a string, status or error; number: an integer's value or an array's
     * length. Returns 0 to make the reader fail. */
    int (*append)(void *context, int kind, const char *bytes, size_t length, long long number);
} chiredis_sink;

/* hiredis expects an object for each value, and treats NULL as "out of memory"; the sink needs no objects. */
static inline void *chiredis_emit(const redisReadTask *task, int kind, const char *bytes, size_t length, long long number) {
    const chiredis_sink *sink = (const chiredis_sink *)task->privdata;
    return sink->append(sink->context, kind, bytes, length, number) ? (void *)1 : NULL;
}

static inline void *chiredis_create_string(const redisReadTask *task, char *bytes, size_t length) {
    switch (task->type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
        return chiredis_emit(task, task->type, bytes, length, 0);
    default: /* A type of RESP3, which the client never enables. */
        return NULL;
    }
}

static inline void *chiredis_create_array(const redisReadTask *task, chiredis_length length) {
    if (task->type != REDIS_REPLY_ARRAY) return NULL; /* RESP3's maps, sets and pushes */
    return chiredis_emit(task, REDIS_REPLY_ARRAY, NULL, 0, (long long)length);
}

static inline void *chiredis_create_integer(const redisReadTask *task, long long number) {
    return chiredis_emit(task, REDIS_REPLY_INTEGER, NULL, 0, number);
}

static inline void *chiredis_create_nil(const redisReadTask *task) {
    return chiredis_emit(task, REDIS_REPLY_NIL, NULL, 0, 0);
}

static inline void chiredis_free_object(void *object) { (void)object; }

#if HIREDIS_MAJOR >= 1
/* Without these two, a 1.x reader would silently accept RESP3's doubles and booleans. */
static inline void *chiredis_create_double(const redisReadTask *task, double value, char *bytes, size_t length) {
    (void)task, (void)value, (void)bytes, (void)length;
    return NULL;
}

static inline void *chiredis_create_bool(const redisReadTask *task, int value) {
    (void)task, (void)value;
    return NULL;
}
#endif

/* Creates a reader that passes values to `sink`, which must outlive it. NULL when there is no memory. */
static inline redisReader *chiredis_reader_create(chiredis_sink *sink) {
    static redisReplyObjectFunctions functions = {
        .createString = chiredis_create_string,
        .createArray = chiredis_create_array,
        .createInteger = chiredis_create_integer,
        .createNil = chiredis_create_nil,
        .freeObject = chiredis_free_object,
#if HIREDIS_MAJOR >= 1
        .createDouble = chiredis_create_double,
        .createBool = chiredis_create_bool,
#endif
    };
    redisReader *reader = redisReaderCreateWithFunctions(&functions);
    if (reader != NULL) reader->privdata = sink;
    return reader;
}

/* Returns the number of bytes that the reader was fed and has not consumed. */
static inline size_t chiredis_reader_unread(const redisReader *reader) { return reader->len - reader->pos; }
