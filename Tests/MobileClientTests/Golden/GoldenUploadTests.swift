import Foundation
import Testing

@testable import MobileClient

/// Uploads as `Tests/Golden/http` has them: forms that the client writes to files.
@Suite struct GoldenUploadTests {
    /// The uploads of this suite.
    static let names = Set((faces + pictures + photos).map(\.name))
    private static let pushToken = "c1aaaaaaaaaaaaaaaaaaaa:APA91bExampleToken"

    /// An upload, and the error of its response.
    struct Upload: Sendable {
        let name: String
        var code: HeliographError.Code?
        var field: String?
        var first = 1
    }

    private static let faces: [Upload] = [
        Upload(name: "ekyc-sign-up"), Upload(name: "ekyc-sign-up-repeated"),
        Upload(name: "ekyc-sign-up-key-reused", code: .idempotencyKeyReused, first: 11),
        Upload(name: "ekyc-sign-up-consent-required", code: .consentRequired, field: "consent_version"),
        Upload(name: "ekyc-sign-up-enrolment"), Upload(name: "ekyc-sign-up-recovery"),
        Upload(name: "ekyc-sign-up-unauthorized", code: .unauthorized), Upload(name: "ekyc-sign-up-account"),
        Upload(name: "ekyc-sign-up-reauthentication-required", code: .reauthenticationRequired), Upload(name: "ekyc-login"),
        Upload(name: "ekyc-login-challenge"), Upload(name: "ekyc-sign-up-challenge"),
        Upload(name: "ekyc-login-challenge-required", code: .challengeRequired, field: "challenge_id"),
        Upload(name: "ekyc-login-challenge-invalid", code: .challengeInvalid, field: "challenge_id"),
        Upload(name: "ekyc-login-challenge-expired", code: .challengeExpired, field: "challenge_id"),
        Upload(name: "ekyc-login-challenge-used", code: .challengeUsed, field: "challenge_id"),
        Upload(name: "ekyc-login-account-locked", code: .accountLocked), Upload(name: "ekyc-login-overloaded", code: .overloaded),
    ]
    private static let pictures: [Upload] = [
        Upload(name: "image-order"), Upload(name: "image-order-repeated"),
        Upload(name: "image-order-key-reused", code: .idempotencyKeyReused, first: 2),
        Upload(name: "image-order-in-progress", code: .requestInProgress),
        Upload(name: "image-order-template-not-found", code: .templateNotFound, field: "template_id"),
        Upload(name: "image-order-invalid-option", code: .invalidRequest, field: "options.width"),
        Upload(name: "image-order-unauthorized", code: .unauthorized), Upload(name: "image-order-rate-limited", code: .rateLimited),
    ]
    private static let photos: [Upload] = [
        Upload(name: "photo-add"), Upload(name: "photo-add-repeated"),
        Upload(name: "photo-add-key-reused", code: .idempotencyKeyReused, first: 2),
        Upload(name: "photo-invalid-image", code: .invalidImage, field: "photo", first: 0),
        Upload(name: "photo-too-large", code: .payloadTooLarge, field: "photo", first: -1),
        Upload(name: "photo-topic-not-found", code: .topicNotFound),
    ]

    private static let challenge = EKYCClient.Challenge(
        id: "token-challenge", poses: [.left, .nearer, .right], expiresAt: GoldenFile.time)

    /// A picture of golden files: 0 and -1 are those that the API refuses.
    private static func picture(_ number: Int) -> Data {
        GoldenFile.picture(number == 0 ? "<svg>" : number < 0 ? "<jpeg:large>" : "<jpeg:\(number)>")
    }

    /// Writes the form, holds the request to the golden one, and returns what the client makes of the response.
    private func exchange<Answer: Sendable>(
        _ upload: Upload, _ parts: [MultipartFileWriter.Part], _ request: (MultipartFileWriter.Written) -> APIRequest<Answer>
    ) async throws -> Result<Answer, HeliographError> {
        let folder = try TemporaryFolder()
        let golden = try GoldenFile(upload.name)
        let form = try await MultipartFileWriter().write(parts, to: folder.url.appendingPathComponent("form"))
        let request = request(form)
        try GoldenRequestCheck.check(request, golden, makesKey: false, #_sourceLocation)
        guard golden.response.status < 400 else {
            return .failure(HeliographError(golden.response, requestID: "none", now: GoldenFile.time))
        }
        return .success(try request.decode(golden.response))
    }

    private func check<Answer: Equatable>(_ outcome: Result<Answer, HeliographError>, _ upload: Upload, is expected: Answer) {
        switch outcome {
        case .success(let answer): #expect(upload.code == nil && answer == expected, "\(upload.name)")
        case .failure(let error):
            #expect(error.code == upload.code && error.field == upload.field, "\(upload.name)")
            let waits: [HeliographError.Code] = [.accountLocked, .overloaded, .requestInProgress, .rateLimited]
            #expect((error.retryAfter != nil) == waits.contains(error.code), "\(upload.name)")
            // No attempt is left, so that repeating it as it is does not help.
            #expect(error.isRetryable == (waits.contains(error.code) && error.code != .accountLocked), "\(upload.name)")
        }
    }

    @Test(arguments: faces.map(\.name)) func `photos of a face`(name: String) async throws {
        let upload = try #require(Self.faces.first { $0.name == name })
        func photos(_ first: Int) -> [EKYCClient.Photo] { (first..<first + 3).map { .data(Self.picture($0)) } }
        let order: EKYCOrder
        if name.hasPrefix("ekyc-login") {
            let isAnswer = name.contains("challenge") && upload.code != .challengeRequired
            order = try await EKYCOrder(
                signIn: photos(1), email: "known@example.org", challenge: isAnswer ? Self.challenge : nil, pushToken: Self.pushToken)
        } else {
            let owner: EKYCClient.Owner =
                switch name {
                case "ekyc-sign-up-account", "ekyc-sign-up-reauthentication-required": .account
                case "ekyc-sign-up-enrolment", "ekyc-sign-up-unauthorized": .enrolment(token: "token-enrolment")
                case "ekyc-sign-up-recovery": .enrolment(token: "token-enrolment", isRecovery: true)
                default: .email("ada@example.org")
                }
            let first = upload.first
            order = try await EKYCOrder(
                signUp: .init(left: photos(first), right: photos(first + 3), front: photos(first + 6)), as: owner, consent: nil,
                answer: name.contains("challenge") ? .init(Self.challenge, photos: photos(10)) : nil, pushToken: Self.pushToken)
        }
        let bearer: APIRequest<EKYCRequests.Started>.Bearer =
            order.secret.enrolmentToken.map { .token($0) } ?? (order.sender == .account ? .account : .none)
        let outcome = try await exchange(upload, order.parts) {
            EKYCRequests.upload(order.kind, $0.file, boundary: $0.boundary, bearer: bearer, key: GoldenFile.id("request"))
        }
        check(outcome, upload, is: .init(sessionID: GoldenFile.id(), token: GoldenFile.token))
    }

    @Test(arguments: pictures.map(\.name)) func `an order of a picture`(name: String) async throws {
        let upload = try #require(Self.pictures.first { $0.name == name })
        var parts = [MultipartFileWriter.Part("template_id", .text(upload.code == .templateNotFound ? "no-such-template" : "anime-style"))]
        if upload.field == "options.width" { parts.append(.init("options", .text(#"{"width":15}"#))) }
        parts.append(.init("image", fileName: "picture.jpg", contentType: "image/jpeg", .data(Self.picture(upload.first))))
        let outcome = try await exchange(upload, parts) {
            JobsRequests.order(file: $0.file, boundary: $0.boundary, key: GoldenFile.id("request"))
        }
        check(outcome, upload, is: GoldenFile.id().wireText)
    }

    @Test(arguments: photos.map(\.name)) func `a photo of an event`(name: String) async throws {
        let upload = try #require(Self.photos.first { $0.name == name })
        let part = MultipartFileWriter.Part("photo", fileName: "photo.jpg", contentType: "image/jpeg", .data(Self.picture(upload.first)))
        let outcome = try await exchange(upload, [part]) {
            TopicRequests.addPhoto(
                to: "event:party", body: .multipart(file: $0.file, boundary: $0.boundary), key: GoldenFile.id("request"))
        }
        check(outcome, upload, is: GoldenFile.id())
    }
}
