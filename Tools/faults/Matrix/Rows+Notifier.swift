import Foundation
import HTTPClient
import TestSupport

/// Faults of the notifier, on the services, the emulator of FCM and two phones.
extension FaultRow {
    /// The longest time from a notifier's death to the next send of its pushes, in seconds.
    private static let resendBar = 20.0

    /// A push is published work, and what its phone shows in the end is the effect: a repetition has to replace.
    static let notifierKilled = FaultRow("N1", "notifier killed while FCM holds the answers to its pushes") { scale, isClustered, report in
        let stack = try await Stack.start(services: ["token-registry", "notifier", "identity-api"], isClustered: isClustered)
        do {
            try await killNotifiers(stack, scale, &report)
        } catch {
            report.error = "\(error)\n\(stack.tail(of: "notifier"))"
        }
    }

    private static func killNotifiers(_ stack: Stack, _ scale: Scale, _ report: inout FaultReport) async throws {
        let chat = try await KilledChat.begin(on: stack)
        var recoveries: [Double] = []
        for round in 1...scale.rounds {
            // The phone has the push, and the notifier does not know: the worst case.
            try await stack.control("POST", "faults", #"{"action":"hang","delivered":true,"count":0}"#)
            try await chat.send(round)
            let first = try await chat.arrivals(of: round, count: 1)[0]
            await stack.kill("notifier")
            let death = ContinuousClock.now
            try await stack.control("DELETE", "faults")
            try stack.launch("notifier")
            let all = try await chat.arrivals(of: round, count: 2)
            recoveries.append((ContinuousClock.now - death) / .seconds(1))
            report.published += 1
            report.effects += Set(all.map(\.collapseID)).count
            report.duplicated = report.effects - report.published
            report.rerun += all.count - 1
            report.check("the repetition replaces the push, without sound", all[1] == first.silently, "\(all)")
        }
        recoveries.sort()
        report.recoveryP50 = recoveries[recoveries.count / 2]
        report.recoveryP99 = recoveries.last
        report.recoveryBar = max(resendBar, scale.silenceRecovery)
    }
}

/// Messages of one user to the phone of another.
struct KilledChat {
    /// The content of a push that a phone shows.
    struct Arrival: Equatable {
        let collapseID: String?
        var hasSound: Bool

        var silently: Arrival { Arrival(collapseID: collapseID, hasSound: false) }
    }

    private static let topic = "conversation:killed"

    let ada: Phone
    let ben: Phone
    let bearer: String

    static func begin(on stack: Stack) async throws -> KilledChat {
        let (ada, ben) = (try await Phone.make(stack), try await Phone.make(stack))
        let (adas, bens) = (try await ada.idToken(of: "ada"), try await ben.idToken(of: "ben"))
        _ = try await ada.register(bearer: adas)
        _ = try await ben.register(bearer: bens)
        guard let bensID = try await ben.enter("event:ben", bearer: bens).body["data"]["user_id"].text else {
            throw DeadlineExceeded(description: "the id of a user is in no answer")
        }
        for (phone, user, bearer) in [(ada, "me", adas), (ada, bensID, adas), (ben, "me", bens)] {
            _ = try await phone.enter(topic, user, bearer: bearer)
        }
        return KilledChat(ada: ada, ben: ben, bearer: adas)
    }

    func send(_ number: Int) async throws {
        let json = #"{"message_id":"m-\#(number)","text":"\#(Chat.text(number))"}"#
        let answer = try await ada.post("/v1/topics/\(Self.topic)/messages", json: json, bearer: bearer)
        guard answer.status == 202 else { throw DeadlineExceeded(description: "a message was refused: \(answer.status)") }
    }

    /// Waits until a message has come to the phone so often, and returns what came.
    func arrivals(of number: Int, count: Int) async throws -> [Arrival] {
        try await eventually(within: .seconds(120), "message \(number) arrives \(count) times") {
            let pushes = try await ben.pushes().filter { $0["data"]["message"].text == Chat.text(number) }
            guard pushes.count >= count else { return nil }
            return pushes.map { push in
                let apns = push["apns"]
                return Arrival(
                    collapseID: apns["headers"]["apns-collapse-id"].text, hasSound: apns["payload"]["aps"]["sound"] != .null)
            }
        }
    }
}

extension Stack {
    /// Calls the control API of the emulator.
    fileprivate func control(_ method: String, _ path: String, _ json: String = "") async throws {
        let request = HTTPClientRequest(method: method, url: "\(fcmURL)/control/\(path)", body: Array(json.utf8), timeout: .seconds(100))
        let status = try await http.execute(request).status
        guard (200...299).contains(status) else { throw DeadlineExceeded(description: "\(method) \(path): \(status)") }
    }
}
