import EventBus
import Foundation
import Testing
import WireFormat

/// The consumer groups of each event. An event without groups is not republished when Redis loses it.
struct EventGroupsTests {
    @Test func `the groups are those of the design`() {
        #expect(
            EventCatalog.groupsByStream == [
                "ekyc.requested": ["face-matching-worker"], "ekyc.requested.known": ["face-matching-worker"],
                "ekyc.requested.bulk": ["face-matching-worker"], "image.requested.bulk": ["image-worker"], "ekyc.completed": [],
                "mail.requested": ["identity-api"],
                "image.requested": ["image-worker"], "photo.uploaded": ["image-worker"],
                "image.progress": [], "image.completed": [],
                "user.erased": ["identity-api", "face-matching-worker", "image-worker", "token-registry", "notifier"],
                "notification.requested": ["token-registry"],
                "notification.settled": ["token-registry"],
                "notification.addressed.urgent": ["notifier"], "notification.addressed.normal": ["notifier"],
                "notification.addressed.bulk": ["notifier"],
            ])
    }

    /// A dead letter closes its message in the outbox for every group. `user.erased` is published again until all have reported.
    @Test func `only the event that is published anew has several groups, because a dead letter counts for all groups of an event`() {
        #expect(EventCatalog.events.filter { $0.groups.count > 1 }.map { $0.type } == [.userErased])
    }

    @Test(arguments: ["identity-api", "face-matching-worker", "image-worker", "token-registry", "notifier"])
    func `a service has handlers for exactly the events that name its group`(_ service: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let sources = root.appendingPathComponent("Services/\(service)")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var handled: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: #/func handle\(\s*_ events?: \[?Envelope<(\w+)>/#) { handled.insert(String(match.1)) }
            // The services share the handler of this event, and differ in what they erase.
            if text.contains("context.erasing(with: ") { handled.insert("\(UserErased.self)") }
        }
        let named = Set(EventCatalog.events.filter { $0.groups.contains(service) }.map { "\($0)" })
        // A service that does not exist yet handles nothing.
        #expect(handled.isEmpty || handled == named)
    }
}
