import FoundationEssentials
import Synchronization
import Testing

@testable import FCMEmulator

/// Tests the store of accepted messages and its queries.
@Suite struct KeptMessageTests {
    private func message(_ number: Int, to registration: String?, _ template: MessageTemplate) -> KeptMessage {
        KeptMessage(
            name: MessageName(project: "p", number: number, form: .other), receivedAt: Date(timeIntervalSince1970: 0),
            template: template, registration: registration, platform: registration == nil ? nil : .ios)
    }

    private func template() throws -> MessageTemplate {
        let bytes = Array(#"{"message":{"topic":"t"}}"#.utf8)
        return MessageTemplate(bytes, try MessageValidator(sizeLimit: .documented).validate(bytes))
    }

    @Test func `the kept messages to one phone are returned in order`() throws {
        var limits = FCMEmulatorLimits()
        limits.messages = 5
        let (inbox, template) = (Inbox(limits: limits), try template())
        for number in 0..<8 { inbox.append(message(number, to: ["a", "b", nil][number % 3], template)) }
        #expect(inbox.messages(to: "a").map(\.name) == ["projects/p/messages/3", "projects/p/messages/6"])
        #expect(inbox.messages(to: "b").map(\.name) == ["projects/p/messages/4", "projects/p/messages/7"])
        #expect(inbox.messages(to: "c").isEmpty)
        #expect(inbox.messages(to: nil).count == 5)
        inbox.clear()
        inbox.append(message(9, to: "a", template))
        #expect(inbox.messages(to: "a").map(\.name) == ["projects/p/messages/9"], "what was cleared does not come back")
    }

    @Test func `phones without kept messages are removed`() throws {
        var limits = FCMEmulatorLimits()
        limits.messages = 5
        let (inbox, template) = (Inbox(limits: limits), try template())
        for number in 0..<100 { inbox.append(message(number, to: "phone \(number)", template)) }
        let known = inbox.state.withLock { $0.newest.count }
        #expect(known <= 10)
        #expect(inbox.messages(to: "phone 99").count == 1)
    }

    @Test func `two messages of the same time have different names`() {
        let core = EmulatorCore(configuration: FCMEmulatorConfiguration(directory: "/nowhere"), logger: FCMEmulator.quietLogger)
        let now = Date(timeIntervalSince1970: 1_763_940_183.5)
        let numbers = (0..<3).map { _ in core.makeNameNumber(now: now) }
        #expect(numbers == [1_763_940_183_500_000, 1_763_940_183_500_001, 1_763_940_183_500_002])
        for form in [MessageName.Form.topic, .android, .other] {
            #expect(Set(numbers.map { MessageName(project: "p", number: $0, form: form).id }).count == 3)
        }
        #expect(core.makeNameNumber(now: now.addingTimeInterval(-60)) == 1_763_940_183_500_003, "a clock that is moved back")
    }

    @Test func `names have the forms that production uses`() {
        let name = { (form: MessageName.Form) in MessageName(project: "p", number: 1_763_940_183_515_680, form: form).id }
        #expect(name(.topic).wholeMatch(of: /[1-9][0-9]{18}/) != nil)
        #expect(name(.android).wholeMatch(of: /0:1763940183515680%[0-9a-f]{16}/) != nil)
        #expect(name(.other) == "1763940183515680")
    }
}
