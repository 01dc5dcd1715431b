package import Hummingbird
import NIOHPACK

/// The service that the connections of a listener offer.
package struct EmulatorService: Sendable {
    /// Answers a request in the read that completes it; nil leaves it to the router.
    let outcome: @Sendable (HPACKHeaders, _ body: [UInt8], RequestLog.Line) -> RequestOutcome?
    let router: RouterBridge
    let connections: ConnectionTracker
    /// The largest request body, in bytes; of a longer one, one byte more is passed on.
    let maxBodyBytes: Int
    /// The longest delay of an outcome.
    var maxDelay = Duration.zero

    /// A service of a router alone.
    package init(_ router: Router<EmulatorContext>, connections: ConnectionTracker, maxBodyBytes: Int) {
        outcome = { _, _, _ in nil }
        self.router = RouterBridge(responder: router.buildResponder())
        self.connections = connections
        self.maxBodyBytes = maxBodyBytes
    }

    /// The service of the FCM emulator.
    init(_ core: EmulatorCore, _ router: Router<EmulatorContext>) {
        outcome = { head, body, line in
            GoogleEndpoint(head).map { $0.handle(body, authorization: head.first(name: "authorization"), line: line, core: core) }
        }
        self.router = RouterBridge(responder: router.buildResponder())
        connections = core.connections
        maxBodyBytes = core.configuration.limits.bodyBytes
        maxDelay = .seconds(core.configuration.limits.delaySeconds)
    }
}
