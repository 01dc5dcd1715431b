import Foundation
import Testing

@testable import MobileClient

/// Retakes of the bad photos of failed sessions.
@Suite(.timeLimit(.minutes(2))) struct EKYCRetakeTests {
    private let phone: EKYCPhone

    init() throws { phone = try EKYCPhone() }

    @Test func `a retake has only the named photos, in their order, and the texts of its failed session`() async throws {
        let process = phone.launch()
        let failed = try await phone.failSignIn(
            process, EKYCPhone.failure(#"{"field":"faces","index":2,"problems":["blurred"]}"#, after: true))
        #expect(await failed.result().photosToRetake == [.init(.faces, 2, [.blurred]), .init(.faces, 0, [.noFace])])
        let session = try await process.client.retake([EKYCPhone.photo(8), EKYCPhone.photo(9)], of: failed)
        await phone.time.waitForSleepers()
        let uploads = await process.sender.sent.filter { $0.method == "POST" }
        let (first, retake) = (try #require(uploads.first), try #require(uploads.last))
        let former = try #require(phone.server.sessions.first)
        #expect(uploads.count == 2 && retake.path == first.path && retake.bearer == first.bearer)
        #expect(retake.idempotencyKey == session.id && session.id != failed.id && session.kind == .signIn)
        #expect(first.headers["X-Session-Token"] == nil && retake.headers["X-Session-Token"] == former.token)
        let form = String(decoding: retake.body ?? Data(), as: UTF8.self)
        for (name, text) in [("email", "a@b.example"), ("fcm_token", "push-token"), ("retake_of", former.id.wireText)] {
            #expect(form.contains("name=\"\(name)\"\r\n\r\n\(text)\r\n"))
        }
        #expect(!form.contains("challenge_id") && !form.contains(former.token))
        let names = form.matches(of: /name="faces"; filename="(\d).jpg"/).map { String($0.output.1) }
        #expect(names == ["1", "3"])
        let photos = try [UInt8(9), 8].map { try #require(retake.body?.range(of: Data([0xFF, 0xD8, 0xFF, $0]))?.lowerBound) }
        #expect(photos == photos.sorted())
    }

    @Test func `a retake of a sign-up has its consent, its recovery and its proof`() async throws {
        let process = phone.launch()
        phone.server.plan { ($0.asksBeforeDecision, $0.decision) = (0, EKYCPhone.failure()) }
        let owner = EKYCClient.Owner.enrolment(token: "enrolment-token", isRecovery: true)
        let failed = try await process.client.signUp(EKYCPhone.poses, as: owner, consent: "v 2")
        await phone.pass(.seconds(3))
        _ = await failed.result()
        _ = try await process.client.retake([EKYCPhone.photo(8)], of: failed)
        await phone.time.waitForSleepers()
        let upload = try #require(await process.sender.sent.last)
        let form = String(decoding: upload.body ?? Data(), as: UTF8.self)
        #expect(upload.path.hasSuffix("upload-photos") && upload.bearer == #"token("enrolment-token")"#)
        #expect(form.contains("\"recovery\"\r\n\r\ntrue\r\n") && form.contains("\"consent_version\"\r\n\r\nv 2\r\n"))
    }

    @Test func `a retake that fails is retaken in turn, and signs in`() async throws {
        let process = phone.launch()
        var session = try await phone.failSignIn(process)
        for _ in 0..<2 {
            session = try await process.client.retake([EKYCPhone.photo(8)], of: session)
            await phone.pass(.seconds(3))
            #expect(await session.result().photosToRetake?.count == 1)
        }
        phone.server.plan { $0.decision = #""state":"succeeded""# }
        session = try await process.client.retake([EKYCPhone.photo(8)], of: session)
        await phone.pass(.seconds(3))
        #expect(await session.result() == .signedIn(userID: "user-1"))
        #expect(phone.server.sessions.map(\.isRetaken) == [true, true, true, false])
        for session in try await process.client.pending() { await session.acknowledge() }
        #expect(phone.leftovers == [])
    }

    @Test func `another number of photos is refused, and the photos can still be retaken`() async throws {
        let process = phone.launch()
        let failed = try await phone.failSignIn(process)
        for photos in [[], [EKYCPhone.photo(1), EKYCPhone.photo(2)]] {
            let error = await #expect(throws: HeliographError.self) { try await process.client.retake(photos, of: failed) }
            #expect(error?.code == .invalidArgument && error?.field == "faces")
        }
        let error = await #expect(throws: HeliographError.self) {
            try await process.client.retake([.data(Data("GIF89a".utf8))], of: failed)
        }
        #expect(error?.code == .invalidArgument && error?.field == "faces")
        _ = try await process.client.retake([EKYCPhone.photo(8)], of: failed)
    }

    @Test func `a photo of a retake that is too large is scaled down`() async throws {
        let scaler = FakeScaler()
        let process = phone.launch(scaler: scaler)
        let failed = try await phone.failSignIn(process)
        _ = try await process.client.retake([.data(PhotoHeads.heic(8_064, 6_048))], of: failed)
        await phone.time.waitForSleepers()
        #expect(await process.sender.sent.last?.body?.range(of: FakeScaler.jpeg) != nil && scaler.count == 1)
    }

    @Test func `an API that has not kept the photos has the app begin again with all`() async throws {
        let process = phone.launch()
        let failed = try await phone.failSignIn(process)
        let error = EKYCServer.refusal(409, .retakeUnavailable, field: "retake_of")
        // The first answer is lost: the refusal of the repetition says that no session began.
        phone.server.plan { $0.uploadRefusals = [EKYCServer.lost, error] }
        let session = try await process.client.retake([EKYCPhone.photo(8)], of: failed)
        await phone.pass(.seconds(3))
        let outcome = await session.result()
        #expect(outcome == .refused(error) && outcome.photosToRetake == nil && error.code == .retakeUnavailable)
        #expect(!error.isRetryable)
    }

    @Test func `a failure without kept photos cannot be retaken`() async throws {
        let process = phone.launch()
        let failed = try await phone.failSignIn(process, #""state":"failed","reason":"low_quality","photos":[\#(EKYCPhone.badPhoto)]"#)
        let outcome = await failed.result()
        #expect(outcome.photosToRetake == nil && !phone.leftovers.contains { $0.hasPrefix("secrets/") })
        #expect(outcome == .failed(EKYCSession.Failure(.lowQuality, isRetryable: true, photos: [.init(.faces, 0, [.noFace])])))
        await phone.expectNoRetake(of: failed, process)
    }
}

extension EKYCPhone {
    static let badPhoto = #"{"field":"faces","index":0,"problems":["no_face"]}"#

    /// A decision that names photos for a retake: one, or another one before it.
    static func failure(_ other: String = "", after isFollowed: Bool = false) -> String {
        let photos = isFollowed ? "\(other),\(badPhoto)" : badPhoto
        return #""state":"failed","reason":"no_face","retryable":true,"photos":[\#(photos)],"retake_until":"2027-01-15T08:10:03Z""#
    }

    /// Lets time pass as soon as a session waits for it.
    func pass(_ duration: Duration) async {
        await time.waitForSleepers()
        time.advance(by: duration)
    }

    /// A sign-in that has failed.
    func failSignIn(_ process: Process, _ decision: String = failure()) async throws -> EKYCSession {
        server.plan { ($0.asksBeforeDecision, $0.decision) = (0, decision) }
        let session = try await process.client.signIn(Self.faces, email: "a@b.example")
        await pass(.seconds(3))
        _ = await session.result()
        return session
    }

    func expectNoRetake(of session: EKYCSession, _ process: Process, _ location: SourceLocation = #_sourceLocation) async {
        let retakes = await process.sender.sent.count { $0.headers["X-Session-Token"] != nil }
        let error = await #expect(throws: HeliographError.self, sourceLocation: location) {
            try await process.client.retake([Self.photo(8)], of: session)
        }
        #expect(error?.code == .retakeUnavailable && error?.isRetryable == false, sourceLocation: location)
        #expect(await process.sender.sent.count { $0.headers["X-Session-Token"] != nil } == retakes, sourceLocation: location)
    }
}
