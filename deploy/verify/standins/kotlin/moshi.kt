// The part of Moshi that clients of openapi-generator name. It only lets them compile: nothing of it is run.
package com.squareup.moshi

private fun standIn(): Nothing = throw UnsupportedOperationException("a stand-in that is compiled against, and not run")

annotation class Json(val name: String)

annotation class JsonClass(val generateAdapter: Boolean)

annotation class ToJson

annotation class FromJson

class JsonAdapter<T> {
    fun toJson(value: T?): String = standIn()
    fun fromJson(text: String): T? = standIn()
    interface Factory
}

class Moshi {
    fun <T> adapter(type: Class<T>): JsonAdapter<T> = standIn()
    class Builder {
        fun add(adapter: Any): Builder = standIn()
        fun build(): Moshi = standIn()
    }
}

@ExperimentalStdlibApi
inline fun <reified T> Moshi.adapter(): JsonAdapter<T> = throw UnsupportedOperationException()
