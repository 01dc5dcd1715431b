import EventBus
import Foundation
import Push
import Testing
import WireFormat

@Suite("Events keep their bytes")
struct EventGoldenTests {
    @Test func `ekyc.requested`() throws { try check(GoldenEvents.ekycRequested) }
    @Test func `ekyc.completed`() throws { try check(GoldenEvents.ekycCompleted) }
    @Test func `mail.requested`() throws { try check(GoldenEvents.mailRequested) }
    @Test func `image.requested`() throws { try check(GoldenEvents.imageRequested) }
    @Test func `photo.uploaded`() throws { try check(GoldenEvents.photoUploaded) }
    @Test func `image.progress`() throws { try check(GoldenEvents.imageProgress) }
    @Test func `image.completed`() throws { try check(GoldenEvents.imageCompleted) }
    @Test func `user.erased`() throws { try check(GoldenEvents.userErased) }
    @Test func `notification.requested`() throws { try check(GoldenEvents.notificationRequested) }
    @Test func `notification.addressed`() throws { try check(GoldenEvents.notificationAddressed) }
    @Test func `notification.settled`() throws { try check(GoldenEvents.notificationSettled) }

    /// Checks that encoding gives exactly the fixture, and that decoding accepts it, also with fields of a later version.
    private func check<Body: Event>(
        _ event: Body, fixture name: String = "\(Body.type).v\(Body.version)", location: SourceLocation = #_sourceLocation
    ) throws {
        let golden = try GoldenEvents.fixture(name)
        let written = try Envelope(event).encoded()
        #expect(
            String(decoding: written.body, as: UTF8.self) == String(decoding: golden, as: UTF8.self),
            sourceLocation: location)

        let read = try envelope(of: event, body: golden).decode(Body.self).body
        #expect(read == event, sourceLocation: location)

        let extended = golden.dropLast() + Array(#","a_later_field":{"nested":[1,null]}}"#.utf8)
        let readExtended = try envelope(of: event, body: Array(extended)).decode(Body.self).body
        #expect(readExtended == event, sourceLocation: location)
    }

    private func envelope<Body: Event>(of event: Body, body: [UInt8]) throws -> EncodedEnvelope {
        try EncodedEnvelope(
            id: GoldenEvents.first, type: Body.type, version: Body.version, key: event.key,
            occurredAt: GoldenEvents.time, body: body)
    }

    @Test func `every event of the catalogue has its fixture and its streams`() throws {
        for event in EventCatalog.events {
            _ = try GoldenEvents.fixture("\(event.type).v\(event.version)")
        }
        #expect(Set(EventCatalog.streams).count == EventCatalog.streams.count)
        #expect(EventCatalog.streams.contains("notification.addressed.urgent"))
        #expect(GoldenEvents.notificationAddressed.stream == "notification.addressed.bulk")
        #expect(EkycLane.allCases.map(EkycRequested.stream(of:)) == ["ekyc.requested", "ekyc.requested.known", "ekyc.requested.bulk"])
        #expect(ImageLane.allCases.map(ImageRequested.stream(of:)) == ["image.requested", "image.requested.bulk"])
    }

    @Test func `values on the wire keep their names`() {
        #expect(
            SessionReason.allCases.map(\.rawValue) == [
                "no_face", "multiple_faces", "face_too_small", "low_quality", "invalid_image", "pose_mismatch",
                "inconsistent_faces", "duplicate_images", "replayed_image", "liveness_failed", "no_match", "already_enrolled",
                "face_in_use", "timeout",
                "internal",
            ])
        #expect(
            AccountAlert.allCases.map(\.rawValue) == [
                "new_sign_in", "face_changed", "recovery_started", "recovery_cancelled", "recovery_completed", "email_changed",
            ])
        #expect(Lane.allCases.map(\.rawValue) == ["urgent", "normal", "bulk"])
        #expect(DeliveryOutcome.allCases.map(\.rawValue) == ["accepted", "dead", "failed", "expired", "skipped"])
        #expect(EkycLane.allCases.map(\.rawValue) == ["new", "known", "bulk"])
        #expect(ImageLane.allCases.map(\.rawValue) == ["standard", "bulk"])
        #expect(EkycEvent.allCases.map(\.rawValue) == ["sign_up", "sign_in"])
        #expect(LivenessPose.allCases.map(\.rawValue) == ["left", "right", "front", "nearer"])
        #expect(Liveness.allCases.map(\.rawValue) == ["not_performed", "passed", "failed"])
        #expect(NotificationRecipient.Kind.allCases.map(\.rawValue) == ["session", "user", "topic", "installation", "list"])
        #expect(ImageJobStatus.allCases.map(\.rawValue) == ["pending", "processing", "completed", "failed"])
    }
}
