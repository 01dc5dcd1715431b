/*
 * What the latency part of BusBenchmarks.swift does, straight against hiredis: one thread appends a message and waits until
 * another thread, blocked in XREADGROUP, has read it; then it pauses for 4 ms. Prints a line for each message: the
 * milliseconds from before the append to after the read.
 *
 * bus_latency_reference <socket> <stream> <messages>
 */
#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *path, *stream;
static long total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_read = PTHREAD_COND_INITIALIZER;
static long read_count;
static struct timespec read_at;

static void die(const char *what) {
    fprintf(stderr, "bus_latency_reference: %s\n", what);
    exit(1);
}

static redisContext *connect_server(void) {
    redisContext *c = redisConnectUnix(path);
    if (!c || c->err) die("cannot connect");
    return c;
}

static redisReply *checked(redisReply *reply) {
    if (!reply) die("lost the connection");
    if (reply->type == REDIS_REPLY_ERROR) die(reply->str);
    return reply;
}

static void *consume(void *unused) {
    (void)unused;
    redisContext *c = connect_server();
    for (long done = 0; done < total;) {
        redisReply *reply =
            checked(redisCommand(c, "XREADGROUP GROUP g c COUNT 1 BLOCK 2000 STREAMS %s >", stream));
        if (reply->type == REDIS_REPLY_ARRAY) {
            pthread_mutex_lock(&lock);
            clock_gettime(CLOCK_MONOTONIC, &read_at);
            read_count = ++done;
            pthread_cond_signal(&has_read);
            pthread_mutex_unlock(&lock);
            const char *id = reply->element[0]->element[1]->element[0]->element[0]->str;
            freeReplyObject(checked(redisCommand(c, "XACK %s g %s", stream, id)));
        }
        freeReplyObject(reply);
    }
    redisFree(c);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 4) die("usage: bus_latency_reference <socket> <stream> <messages>");
    path = argv[1], stream = argv[2], total = atol(argv[3]);
    redisContext *c = connect_server();
    freeReplyObject(checked(redisCommand(c, "XGROUP CREATE %s g 0 MKSTREAM", stream)));
    pthread_t consumer;
    pthread_create(&consumer, NULL, consume, NULL);
    static const char *id = "0195f3a0-1b2c-7d3e-8f40-5162738495a6";
    static const char *body = "{\"event\":\"sign_in\",\"session_id\":\"0195f3a0-1b2c-7d3e-8f40-5162738495a6\"}";
    for (long number = 1; number <= total; number++) {
        struct timespec start, pause = {0, 4000000};
        clock_gettime(CLOCK_MONOTONIC, &start);
        freeReplyObject(checked(redisCommand(
            c, "XADD %s * i %s t ekyc.requested v 1 k %s c 1761559200125 b %s", stream, id, id, body)));
        pthread_mutex_lock(&lock);
        while (read_count < number) pthread_cond_wait(&has_read, &lock);
        double milliseconds = (read_at.tv_sec - start.tv_sec) * 1e3 + (read_at.tv_nsec - start.tv_nsec) / 1e6;
        pthread_mutex_unlock(&lock);
        printf("%.6f\n", milliseconds);
        nanosleep(&pause, NULL);
    }
    pthread_join(consumer, NULL);
    redisFree(c);
    return 0;
}
