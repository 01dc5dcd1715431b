internal import Foundation

/// A checked sign-up or sign-in with photos that are small enough. No data of it has been written or sent yet.
struct EKYCOrder: Sendable {
    let kind: EKYCSession.Kind
    /// Who sends it, as the record has it.
    let sender: EKYCRecord.Sender
    /// What the upload, and a retake of its bad photos, need besides the form.
    let secret: EKYCSecret
    let parts: [MultipartFileWriter.Part]
    /// The id on this device of the failed session whose bad photos it retakes; nil for an order with all photos.
    var retakes: UUID?

    static let photosPerField = 3
    static let pushTokenField = "fcm_token"
    private static let challengeField = "challenge_id"

    init(
        kind: EKYCSession.Kind, sender: EKYCRecord.Sender, secret: EKYCSecret, parts: [MultipartFileWriter.Part], retakes: UUID? = nil
    ) {
        (self.kind, self.sender, self.secret, self.parts, self.retakes) = (kind, sender, secret, parts, retakes)
    }

    /// - Parameter scaler: Scales down photos that are larger than the API accepts; nil without a scaler.
    /// - Throws: `invalid_argument` with the field that breaks a limit of the API; `storage` for a file that cannot be read.
    init(
        signUp photos: EKYCClient.SignUpPhotos, as owner: EKYCClient.Owner, consent: String?, answer: EKYCClient.ChallengeAnswer? = nil,
        pushToken: String, scaler: (any PhotoScaling)? = nil
    ) async throws(HeliographError) {
        kind = .signUp
        var enrolmentToken: String?
        var texts: [String: String] = [:]
        switch owner {
        case .account: sender = .account
        case .email(let email):
            sender = .form
            texts["email"] = try ArgumentLimits.email(email)
        case .enrolment(let token, let isRecovery):
            sender = .enrolment
            enrolmentToken = try Self.checked(token)
            if isRecovery { texts["recovery"] = "true" }
        }
        texts["consent_version"] = consent
        var parts = [Self.text(Self.pushTokenField, pushToken)] + Self.parts(of: texts)
        if let answer { parts.append(Self.text(Self.challengeField, answer.challenge.id)) }
        for (field, photos) in [("left_faces", photos.left), ("right_faces", photos.right), ("front_faces", photos.front)] {
            parts += try await Self.photos(photos, field, scaler)
        }
        if let answer { parts += try await Self.photos(answer.photos, "challenge_photos", scaler) }
        secret = EKYCSecret(enrolmentToken: enrolmentToken, texts: texts)
        self.parts = parts
    }

    /// - Throws: As the other initializer does.
    init(
        signIn photos: [EKYCClient.Photo], email: String, challenge: EKYCClient.Challenge? = nil, proof: String? = nil, pushToken: String,
        scaler: (any PhotoScaling)? = nil
    ) async throws(HeliographError) {
        kind = .signIn
        sender = proof == nil ? .form : .enrolment
        let texts = ["email": try ArgumentLimits.email(email)]
        secret = EKYCSecret(enrolmentToken: try proof.map(Self.checked), texts: texts)
        parts =
            Self.parts(of: texts) + [Self.text(Self.pushTokenField, pushToken)]
            + (challenge.map { [Self.text(Self.challengeField, $0.id)] } ?? []) + (try await Self.photos(photos, "faces", scaler))
    }

    private static func checked(_ token: String) throws(HeliographError) -> String {
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ArgumentLimits.refusal("Authorization", "This is not an enrolment token")
        }
        return token
    }

    static func text(_ name: String, _ value: String) -> MultipartFileWriter.Part { MultipartFileWriter.Part(name, .text(value)) }

    /// The texts that a retake repeats.
    static func parts(of texts: [String: String]) -> [MultipartFileWriter.Part] {
        texts.sorted { $0.key < $1.key }.map { text($0.key, $0.value) }
    }

    private static func photos(
        _ photos: [EKYCClient.Photo], _ field: String, _ scaler: (any PhotoScaling)?
    ) async throws(HeliographError) -> [MultipartFileWriter.Part] {
        guard photos.count == photosPerField else {
            throw ArgumentLimits.refusal(field, "Exactly \(photosPerField) photos are needed, not \(photos.count)")
        }
        var parts: [MultipartFileWriter.Part] = []
        for (index, photo) in photos.enumerated() { parts.append(try await photo.part(of: field, index + 1, scaler: scaler)) }
        return parts
    }
}
