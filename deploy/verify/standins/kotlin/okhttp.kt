// The part of OkHttp 4 that clients of openapi-generator name. It only lets them compile: nothing of it is run.
package okhttp3

import java.io.File
import java.io.IOException
import java.io.InputStream

private fun standIn(): Nothing = throw UnsupportedOperationException("a stand-in that is compiled against, and not run")

class MediaType {
    companion object {
        fun String.toMediaTypeOrNull(): MediaType? = standIn()
    }
}

open class RequestBody {
    companion object {
        fun ByteArray.toRequestBody(contentType: MediaType? = null): RequestBody = standIn()
        fun String.toRequestBody(contentType: MediaType? = null): RequestBody = standIn()
        fun File.asRequestBody(contentType: MediaType? = null): RequestBody = standIn()
    }
}

class FormBody : RequestBody() {
    class Builder {
        fun add(name: String, value: String): Builder = standIn()
        fun build(): FormBody = standIn()
    }
}

class MultipartBody : RequestBody() {
    class Builder {
        fun setType(type: MediaType): Builder = standIn()
        fun addPart(headers: Headers?, body: RequestBody): Builder = standIn()
        fun build(): MultipartBody = standIn()
    }
    companion object {
        val FORM: MediaType get() = standIn()
    }
}

class Headers {
    fun toMultimap(): Map<String, List<String>> = standIn()
    class Builder {
        fun add(name: String, value: String): Builder = standIn()
        fun build(): Headers = standIn()
    }
    companion object {
        fun Map<String, String>.toHeaders(): Headers = standIn()
    }
}

class HttpUrl {
    val encodedPathSegments: List<String> get() = standIn()
    fun newBuilder(): Builder = standIn()
    class Builder {
        fun scheme(scheme: String): Builder = standIn()
        fun host(host: String): Builder = standIn()
        fun addPathSegment(segment: String): Builder = standIn()
        fun addEncodedPathSegments(segments: String): Builder = standIn()
        fun addQueryParameter(name: String, value: String?): Builder = standIn()
        fun build(): HttpUrl = standIn()
    }
    companion object {
        fun String.toHttpUrlOrNull(): HttpUrl? = standIn()
    }
}

class Request {
    class Builder {
        fun url(url: HttpUrl): Builder = standIn()
        fun head(): Builder = standIn()
        fun delete(body: RequestBody?): Builder = standIn()
        fun patch(body: RequestBody): Builder = standIn()
        fun put(body: RequestBody): Builder = standIn()
        fun post(body: RequestBody): Builder = standIn()
        fun method(method: String, body: RequestBody?): Builder = standIn()
        fun headers(headers: Headers): Builder = standIn()
        fun build(): Request = standIn()
    }
}

class ResponseBody {
    fun string(): String = standIn()
    fun bytes(): ByteArray = standIn()
    fun byteStream(): InputStream = standIn()
}

class Response : AutoCloseable {
    val body: ResponseBody? get() = standIn()
    val code: Int get() = standIn()
    val message: String get() = standIn()
    val headers: Headers get() = standIn()
    val isSuccessful: Boolean get() = standIn()
    val isRedirect: Boolean get() = standIn()
    fun header(name: String): String? = standIn()
    override fun close() {}
}

interface Call {
    fun execute(): Response
    interface Factory {
        fun newCall(request: Request): Call
    }
}

interface Callback {
    fun onFailure(call: Call, e: IOException)
    fun onResponse(call: Call, response: Response)
}

class OkHttpClient : Call.Factory {
    override fun newCall(request: Request): Call = standIn()
    class Builder {
        fun build(): OkHttpClient = standIn()
    }
}
