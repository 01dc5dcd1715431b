import FCMEmulator
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import NIOCore

/// `POST /v1beta/models/{model}:generateContent`.
struct GenerateRoute: Sendable {
    let core: GeminiCore

    func respond(_ httpRequest: Request, _ context: EmulatorContext) async throws -> Response {
        let limit = core.configuration.maxRequestBytes
        let path = context.parameters.get("call") ?? ""
        do throws(GeminiRefusal) {
            try authorise(httpRequest)
            guard let model = path.wholeMatch(of: /(.+):generateContent/)?.1, core.configuration.models.contains(String(model)) else {
                throw .modelNotFound(String(path.prefix { $0 != ":" }))
            }
            guard let body = try? await httpRequest.body.collect(upTo: limit) else { throw .tooLarge(limit: limit) }
            let request = try RequestReader(model: String(model)).read(Array(body.readableBytesView))
            return try await act(on: request, model: String(model), context)
        } catch {
            return EmulatorAnswer.json(error.body, status: error.code)
        }
    }

    private func authorise(_ request: Request) throws(GeminiRefusal) {
        let header = HTTPField.Name("x-goog-api-key").flatMap { request.headers[$0] }
        guard let key = header ?? request.uri.queryParameters["key"].map(String.init), !key.isEmpty else { throw .keyMissing }
        guard core.configuration.apiKeys.contains(key) else { throw .keyInvalid(key) }
    }

    private func act(
        on request: GenerateContentRequest, model: String, _ context: EmulatorContext
    ) async throws(GeminiRefusal) -> Response {
        let behaviour = core.admit(request, model: model)
        defer { core.leave() }
        // A disconnect of the caller cancels the task and ends the wait, because the answer has no recipient any more.
        if behaviour.latency > .zero { try? await Task.sleep(for: min(behaviour.latency, longest)) }
        switch behaviour.effect {
        case .rateLimited(let seconds): throw .rateLimited(model: model, retrySeconds: seconds)
        case .dailyQuota: throw .dailyQuota(model: model)
        case .failure(let status, let retryAfter):
            let headers: HTTPFields = retryAfter.map { [.retryAfter: $0] } ?? [:]
            return EmulatorAnswer.json(GeminiRefusal.failure(status: status).body, status: status, headers: headers)
        case .html(let status): return EmulatorAnswer.html(status: status)
        case .hang:
            try? await Task.sleep(for: longest)
            return await cut(context)
        case .cut: return await cut(context)
        case .cutMidway: return cutMidway(request, model: model, context)
        case .garbage:
            return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: #"{"candidates":[{"content":{"par"#)))
        default:
            let writer = AnswerWriter(model: model, request: request, pictureSide: core.configuration.pictureSide)
            return EmulatorAnswer.json(writer.answer(behaviour.effect) ?? [:])
        }
    }

    private var longest: Duration { .seconds(core.configuration.maxDelaySeconds) }

    /// Closes the connection; the returned response is not sent.
    private func cut(_ context: EmulatorContext) async -> Response {
        try? await context.connection.close().get()
        return Response(status: .internalServerError)
    }

    /// Sends half of an answer and closes the connection.
    private func cutMidway(_ request: GenerateContentRequest, model: String, _ context: EmulatorContext) -> Response {
        let writer = AnswerWriter(model: model, request: request, pictureSide: core.configuration.pictureSide)
        let answer = (writer.answer(.picture) ?? [:]).bytes
        let connection = context.connection
        return Response(
            status: .ok, headers: [.contentType: "application/json; charset=UTF-8"],
            body: ResponseBody(contentLength: answer.count) { writer in
                try await writer.write(ByteBuffer(bytes: answer[..<(answer.count / 2)]))
                try? await connection.close().get()
                throw CancellationError()
            })
    }
}
