import Foundation
import HTTPClient
import NIOCore
import NIOPosix
import TestSupport
import Testing

/// Attacks on connections. `make test` makes them in the process of identity-api, with connections by the thousand and with an injected
/// clock; these need stacks of their own.
extension AbuseTests {
    /// N11: four addresses do not hold all connections of an edge without a proxy.
    @Test(.enabled(if: !AbuseScale.current.isShort)) func `connections that four addresses hold keep no other address out`() async throws {
        let stack = try await Stack.start(
            settings: ["RATE_LIMIT_ACCOUNT_PER_MINUTE": "0", "EKYC_FIRST_SECONDS_PER_ACCOUNT": "0"], hasLimits: true)
        let owner = try await HonestOwner.make(stack)
        func signIn() async throws -> Bool {
            // A connection of its own: one that is open already shows nothing.
            let http = AbuseAttack.client(maxConnections: 1)
            try await HonestOwner.forgetPhotos(stack)
            let state = try? await owner.signInAsIs(on: owner.phone.at(HonestOwner.address, through: http))
            await http.shutdown()
            return state == "succeeded"
        }
        let calm = try await HonestOwner.times(isCalm: true, signIn)
        let connections = HeldConnections(port: try #require(URL(string: stack.apiURL)?.port), each: 1_024)
        let times = try await connections.during { try await HonestOwner.times(isCalm: false, signIn) }
        AbuseReport(attack: "N11 connections with one byte each (\(connections.count) opened)")
            .note("a known phone signs in", times, calm: calm, most: 2)
    }

    /// N14: what a sign-in may follow ends with it.
    @Test(.enabled(if: !AbuseScale.current.isShort)) func `the events of a job end with the sign-in that follows them`() async throws {
        // Without a worker the job does not end.
        let stack = try await Stack.start(services: Stack.services.filter { $0 != "image-worker" }, hasLimits: true)
        let owner = try await HonestOwner.make(stack)
        let job = try await owner.phone.submit(
            try Photos.load(Photos.front[0]), template: "pencil-sketch", bearer: owner.accessToken
        ).jobID
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: try #require(URL(string: stack.apiURL)?.port)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let time = try await channel.executeThenClose { inbound, outbound in
            let head = [
                "GET /v1/images/jobs/\(job)/events HTTP/1.1", "Host: x", "Connection: close", "Authorization: Bearer \(owner.accessToken)",
            ]
            try await outbound.write(ByteBuffer(string: head.joined(separator: "\r\n") + "\r\n\r\n"))
            var (received, ended) = ("", ContinuousClock.Instant?.none)
            for try await buffer in inbound {
                received += String(buffer: buffer)
                guard ended == nil, received.contains("event:") else { continue }
                #expect(try await owner.phone.send("DELETE", "/v1/users/me/sessions", bearer: owner.accessToken).status < 300)
                ended = .now
            }
            return ended.map { ContinuousClock.now - $0 }
        }
        AbuseReport(attack: "N14 the events of a job, after the sign-in was ended").note(
            "they end", time.map { "after \(Int(($0 / .milliseconds(1)).rounded())) ms" } ?? "before it", bar: "≤ 16 s",
            holds: time.map { $0 <= .seconds(16) } ?? false)
    }
}
