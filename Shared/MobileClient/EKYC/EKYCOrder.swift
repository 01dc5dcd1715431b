internal import Foundation

/// A checked sign-up or sign-in with photos that are small enough. No data of it has been written or sent yet.
struct EKYCOrder: Sendable {
    let kind: EKYCSession.Kind
    /// Who sends it, as the record has it.
    let sender: EKYCRecord.Sender
    /// The bearer of an enrolment, which is a secret.
    let enrolmentToken: String?
    let parts: [MultipartFileWriter.Part]

    static let photosPerField = 3
    private static let challengeField = "challenge_id"

    /// - Parameter scaler: Scales down photos that are larger than the API accepts; nil without a scaler.
    /// - Throws: `invalid_argument` with the field that breaks a limit of the API; `storage` for a file that cannot be read.
    init(
        signUp photos: EKYCClient.SignUpPhotos, as owner: EKYCClient.Owner, consent: String?, answer: EKYCClient.ChallengeAnswer? = nil,
        pushToken: String, scaler: (any PhotoScaling)? = nil
    ) async throws(HeliographError) {
        kind = .signUp
        var parts = [Self.text("fcm_token", pushToken)]
        var enrolmentToken: String?
        switch owner {
        case .account: sender = .account
        case .email(let email):
            sender = .form
            parts.append(Self.text("email", try ArgumentLimits.email(email)))
        case .enrolment(let token, let isRecovery):
            sender = .enrolment
            enrolmentToken = try Self.checked(token)
            if isRecovery { parts.append(Self.text("recovery", "true")) }
        }
        if let consent { parts.append(Self.text("consent_version", consent)) }
        if let answer { parts.append(Self.text(Self.challengeField, answer.challenge.id)) }
        for (field, photos) in [("left_faces", photos.left), ("right_faces", photos.right), ("front_faces", photos.front)] {
            parts += try await Self.photos(photos, field, scaler)
        }
        if let answer { parts += try await Self.photos(answer.photos, "challenge_photos", scaler) }
        self.enrolmentToken = enrolmentToken
        self.parts = parts
    }

    /// - Throws: As the other initializer does.
    init(
        signIn photos: [EKYCClient.Photo], email: String, challenge: EKYCClient.Challenge? = nil, proof: String? = nil, pushToken: String,
        scaler: (any PhotoScaling)? = nil
    ) async throws(HeliographError) {
        kind = .signIn
        sender = proof == nil ? .form : .enrolment
        enrolmentToken = try proof.map(Self.checked)
        parts =
            [Self.text("email", try ArgumentLimits.email(email)), Self.text("fcm_token", pushToken)]
            + (challenge.map { [Self.text(Self.challengeField, $0.id)] } ?? []) + (try await Self.photos(photos, "faces", scaler))
    }

    private static func checked(_ token: String) throws(HeliographError) -> String {
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ArgumentLimits.refusal("Authorization", "This is not an enrolment token")
        }
        return token
    }

    private static func text(_ name: String, _ value: String) -> MultipartFileWriter.Part { MultipartFileWriter.Part(name, .text(value)) }

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
