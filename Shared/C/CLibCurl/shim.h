#pragma once
// The type checks are macros; with them disabled the plain functions are called.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// Swift cannot call variadic functions, so each type of argument has its own function.

static inline CURLcode hg_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode hg_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode hg_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode hg_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode hg_easy_set_data(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode hg_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode hg_easy_set_receiver(CURL *easy, CURLoption option,
                                            size_t (*receiver)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(easy, option, receiver);
}
static inline CURLcode hg_easy_set_socket_callback(CURL *easy, CURLoption option,
                                                   int (*callback)(void *, curl_socket_t, curlsocktype)) {
    return curl_easy_setopt(easy, option, callback);
}
static inline CURLcode hg_easy_set_tls_callback(CURL *easy, CURLoption option,
                                                CURLcode (*callback)(CURL *, void *, void *)) {
    return curl_easy_setopt(easy, option, callback);
}
static inline CURLcode hg_easy_set_progress_callback(CURL *easy, CURLoption option,
                                                     int (*callback)(void *, curl_off_t, curl_off_t, curl_off_t,
                                                                     curl_off_t)) {
    return curl_easy_setopt(easy, option, callback);
}
static inline CURLcode hg_easy_set_debug_callback(CURL *easy, CURLoption option,
                                                  int (*callback)(CURL *, curl_infotype, char *, size_t, void *)) {
    return curl_easy_setopt(easy, option, callback);
}
static inline CURLcode hg_easy_get_socket(CURL *easy, CURLINFO info, curl_socket_t *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode hg_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode hg_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode hg_easy_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLMcode hg_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLcode hg_global_init(void) { return curl_global_init(CURL_GLOBAL_ALL); }
