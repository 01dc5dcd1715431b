import Foundation
import TestSupport

/// How long, from how many addresses and with which pictures the attacks are made.
///
/// `ABUSE_MINUTES=2` sets the duration of each attack (`make verify-abuse`). Without it the suite makes each attack in its short form:
/// from two addresses, with small pictures, and without the bars of times, which need a machine without other load.
struct AbuseScale: Sendable {
    static let current = AbuseScale(minutes: ProcessInfo.processInfo.environment["ABUSE_MINUTES"].flatMap { Double($0) })

    let isShort: Bool
    /// The duration of an attack that goes on while the owner is timed.
    let duration: Duration
    /// The client addresses of an attack.
    let addressCount: Int
    /// The connections of each address.
    let connections: Int
    /// The owner's tries without an attack.
    let calmCount: Int
    /// The pixels of the worst pictures.
    let pixels: Int
    /// The longer side of the pictures that jobs make.
    let side: Int

    private init(minutes: Double?) {
        isShort = minutes == nil
        duration = .seconds((minutes ?? 0) * 60)
        (addressCount, connections, calmCount) = isShort ? (2, 1, 1) : (10, 4, 60)
        (pixels, side) = isShort ? (500_000, 512) : (16_000_000, 4_096)
    }

    /// The addresses of an attack, each at another place: no two are in one /16.
    func addresses(of attack: Int) -> [String] { (0..<addressCount).map { "\(20 + $0).\(attack).0.7" } }

    /// Starts a stack with the limits of production, behind one proxy: in the short form the tests share one, and their attacks have other
    /// addresses.
    func stack() async throws -> Stack { isShort ? try await Self.shared.value : try await Self.start() }

    private static let shared = Task { try await start() }

    private static func start() async throws -> Stack {
        try await Stack.start(
            settings: [
                "TRUSTED_PROXY_HOPS": "1", "FACE_REPLAY_CHECK": "photos",
                // The owner is timed by one account in place of many.
                "EKYC_FIRST_SECONDS_PER_ACCOUNT": "0",
            ], hasLimits: true)
    }
}
