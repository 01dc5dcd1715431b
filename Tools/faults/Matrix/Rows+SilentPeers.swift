import Foundation
import TestSupport

/// Silence of the peers beside Redis and Postgres, on the services, with the emulator of FCM and of a mail server, and an object store.
extension FaultRow {
    /// A push, a mail and a picture are published work; their arrival is the effect.
    static let peersSilent = FaultRow(
        "N2", "connections to FCM, to the mail server and to the object store fall silent while new ones work"
    ) { scale, isClustered, report in
        let peers = try await SilentPeers.start(isClustered: isClustered)
        do {
            try await peers.run(scale, &report)
        } catch {
            report.error = "\(error)\n\(peers.stack.tail(of: "notifier"))\n\(peers.stack.tail(of: "image-worker"))"
        }
        await peers.stop()
    }
}

private struct SilentPeers {
    let stack: Stack
    /// Kept because the process ends with it.
    private let objects: S3Server
    /// The proxies before FCM, the mail server and the object store.
    let fcm: FaultProxy
    let mail: FaultProxy
    let store: FaultProxy

    /// The least time that FCM wants a sender to wait before it sends a push again whose outcome is unknown, in seconds.
    private static let pushRetryDelay = 10.0

    static func start(isClustered: Bool) async throws -> SilentPeers {
        let server = try await S3Server.start(checksSignatures: false)
        let store = try await FaultProxy.start(to: .tcp(port: server.port))
        // Their servers get their ports with the stack.
        let fcm = try await FaultProxy.start(to: .tcp(port: server.port))
        let mail = try await FaultProxy.start(to: .tcp(port: server.port))
        let stack = try await Stack.start(
            settings: [
                "FCM_BASE_URL": "https://localhost:\(fcm.port)", "SMTP_URL": "smtp://localhost:\(mail.port)", "BLOB_STORE": "s3",
                "S3_ENDPOINT": "http://127.0.0.1:\(store.port)", "S3_BUCKET": S3Server.bucket, "S3_REGION": S3Server.region,
                "S3_ACCESS_KEY_ID": server.accessKeyID, "S3_SECRET_ACCESS_KEY": server.secretAccessKey,
            ], services: ["token-registry", "notifier", "image-worker", "identity-api"], isClustered: isClustered)
        try await fcm.point(to: .tcp(port: stack.fcmPort))
        try await mail.point(to: .tcp(port: stack.smtpPort))
        return SilentPeers(stack: stack, objects: server, fcm: fcm, mail: mail, store: store)
    }

    func stop() async {
        for proxy in [fcm, mail, store] { await proxy.stop() }
    }

    func run(_ scale: Scale, _ report: inout FaultReport) async throws {
        let chat = try await KilledChat.begin(on: stack)
        let picture = try Photos.load(Photos.front[0])
        var recoveries: [Double] = []
        // Round 0 makes the connections.
        for round in 0...scale.rounds {
            if round > 0 {
                for proxy in [fcm, mail] { try await proxy.freeze() }
                // The store's server keeps no connection open: the connections of the next requests fall silent, with the requests in them.
                try await store.set(.held)
            }
            async let push = Self.seconds { try await sendPush(round, chat) }
            async let mailed = Self.seconds { try await sendMail(round, chat.ada) }
            async let ordered = Self.seconds { try await order(picture, chat) }
            if round > 0 {
                try await eventually("a request waits for the object store", isTrue: { try await store.connectionCount() > 0 })
                try await store.freeze()
                try await store.set(.flowing)
            }
            let times = try await [push, mailed, ordered]
            if round > 0 { recoveries += times }
            let detail = zip(["push", "mail", "picture"], times).map { "\($0) \(($1 * 10).rounded() / 10) s" }.joined(separator: ", ")
            let bars = [scale.databaseRecovery + Self.pushRetryDelay, scale.databaseRecovery, scale.databaseRecovery]
            report.check("round \(round) arrives in time", zip(times, bars).allSatisfy { $0 <= $1 }, detail)
            report.published += 3
            report.effects += 3
        }
        recoveries.sort()
        report.recoveryP50 = recoveries[recoveries.count / 2]
        report.recoveryP99 = recoveries.last
    }

    private static func seconds(_ body: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await body()
        return (ContinuousClock.now - start) / .seconds(1)
    }

    private func sendPush(_ round: Int, _ chat: KilledChat) async throws {
        try await chat.send(round)
        _ = try await chat.arrivals(of: round, count: 1)
    }

    private func sendMail(_ round: Int, _ phone: Phone) async throws {
        let address = "silent-\(round)@example.org"
        let answer = try await phone.post("/v1/auth/register", json: #"{"email":"\#(address)"}"#)
        guard answer.status == 202 else { throw DeadlineExceeded(description: "a registration was refused: \(answer.status)") }
        _ = try await phone.mailedCode(to: address)
    }

    private func order(_ picture: [UInt8], _ chat: KilledChat) async throws {
        // identity-api stores the picture before it answers: an app sends the order again.
        let id = UUID()
        let job = try await eventually("the order is accepted") {
            let answer = try await chat.ada.submit(picture, template: "vintage", requestID: id, bearer: chat.bearer)
            guard answer.status == 202 || answer.status >= 500 else {
                throw DeadlineExceeded(description: "the order was refused: \(answer.status) \(answer.body)")
            }
            return answer.status == 202 ? answer.jobID : nil
        }
        let result = try await chat.ada.job(job, bearer: chat.bearer)
        guard result["status"].text == "completed" else { throw DeadlineExceeded(description: "a job failed: \(result["error"])") }
    }
}
