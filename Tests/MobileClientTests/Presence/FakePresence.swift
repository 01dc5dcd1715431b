import Foundation

@testable import MobileClient

/// Answers requests about presence, and says what they were about.
actor FakePresence {
    private(set) var shown: [String] = []
    private var faults: [HeliographError] = []
    private var isHeld = false
    private var held: [CheckedContinuation<Void, Never>] = []

    func fail(_ errors: HeliographError...) { faults += errors }
    func hold() { isHeld = true }
    func release() {
        isHeld = false
        held.forEach { $0.resume() }
        held = []
    }

    func serve(_ sent: ScriptedSender.Sent) async throws(HeliographError) -> TransportResponse {
        shown.append("\(sent.method) \(sent.path) \(String(decoding: sent.body ?? Data(), as: UTF8.self))")
        if isHeld { await withCheckedContinuation { held.append($0) } }
        if !faults.isEmpty { throw faults.removeFirst() }
        return .json(#"{"success":true,"data":{"conversation_id":null,"lease_seconds":0}}"#)
    }
}
