import HTTPTypes
import Hummingbird
import NIOCore

/// Google's two endpoints over HTTP/1.1, which Google serves as well; ``HTTP2ConnectionHandler`` serves them over HTTP/2.
struct HTTP1Routes: Sendable {
    let core: EmulatorCore

    func add(to router: Router<EmulatorContext>) {
        router.post("/v1/projects/{project}/messages:send") { request, context in
            let desk = SendDesk(core: core)
            let line = line(context)
            guard let bytes = await body(of: request) else { return try await carryOut(desk.tooLarge(line: line), context) }
            let outcome = desk.handle(
                bytes, project: context.parameters.get("project") ?? "", authorization: request.headers[.authorization],
                line: line)
            return try await carryOut(outcome, context)
        }
        router.post("/token") { request, context in
            let line = line(context)
            guard let bytes = await body(of: request) else {
                return try await carryOut(SendDesk(core: core).tooLarge(line: line), context)
            }
            return try await carryOut(TokenDesk(core: core).handle(bytes, line: line), context)
        }
    }

    private func line(_ context: EmulatorContext) -> RequestLog.Line {
        RequestLog.Line(connection: core.connections.add(context.connection))
    }

    private func body(of request: Request) async -> [UInt8]? {
        let body = try? await request.body.collect(upTo: core.configuration.limits.bodyBytes)
        return body.map { Array($0.readableBytesView) }
    }

    private func carryOut(_ outcome: RequestOutcome, _ context: EmulatorContext) async throws -> Response {
        let longest = Duration.seconds(core.configuration.limits.delaySeconds)
        if outcome.delay > .zero { try await Task.sleep(for: min(outcome.delay, longest)) }
        switch outcome.fate {
        case .reply(let reply):
            var response = reply.response
            if outcome.isLast { response.headers[.connection] = "close" }
            return response
        case .hang: try await Task.sleep(for: longest)
        case .dropConnection, .resetStream: break
        }
        try? await context.connection.close().get()
        // This response is not sent: the connection is closed.
        return Response(status: .internalServerError)
    }
}
