import HTTPTypes
import Hummingbird
import NIOCore

/// Makes a request suffer what a fault rule says.
struct FaultInjector {
    let core: EmulatorCore
    let context: EmulatorContext
    let project: String

    /// Holds the request back as long as the rule says.
    func delay(_ fault: FaultRule) async throws {
        if fault.latency > .zero { try await Task.sleep(for: min(fault.latency, longest)) }
    }

    /// The answer that the rule demands; nil when it only delays.
    func answer(_ fault: FaultRule) async throws -> Response? {
        switch fault.effect {
        case .none: return nil
        case .error(let kind, let status):
            return Answer.refusal(kind.refusal(project: project), status: status, retryAfter: fault.retryAfter)
        case .html(let status): return Answer.html(status: status, retryAfter: fault.retryAfter)
        case .hang:
            try await Task.sleep(for: longest)
            return try await cut(context.channel)
        case .dropConnection: return try await cut(context.connection)
        case .resetStream: return try await cut(context.channel)
        }
    }

    private var longest: Duration { .seconds(core.configuration.limits.delaySeconds) }

    /// Closes a channel; what is returned is written into the void.
    private func cut(_ channel: any Channel) async throws -> Response {
        try? await channel.close().get()
        return Response(status: .internalServerError)
    }
}
