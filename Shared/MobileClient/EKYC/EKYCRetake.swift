internal import Foundation

/// What a retake has in common with the failed session whose bad photos it replaces.
struct EKYCRetake: Sendable {
    /// The id of the failed session on this device.
    let id: UUID
    let kind: EKYCSession.Kind
    let sender: EKYCRecord.Sender
    /// The bad photos, in the order in which the new ones are given.
    let photos: [EKYCSession.BadPhoto]
    /// The failed session at the API, with its token, which is a secret.
    let session: EKYCSecret.Session
    /// The bearer of an enrolment, which is a secret.
    let enrolmentToken: String?
    /// The texts of the form.
    let texts: [String: String]

    /// The refusal of a session whose photos cannot be retaken.
    static let unavailable = HeliographError(
        .retakeUnavailable, "The photos of this session cannot be retaken any more: begin again with all photos")
}

extension EKYCOrder {
    /// An order with only the new photos, which answers the challenge of the failed session.
    ///
    /// - Parameters:
    ///   - photos: One for each bad photo, in their order.
    ///   - scaler: Scales down photos that are larger than the API accepts; nil without a scaler.
    /// - Throws: `invalid_argument` for another number of photos, or with the field of a photo that breaks a limit of the API; `storage`
    ///   for a file that cannot be read.
    init(
        retaking former: EKYCRetake, _ photos: [EKYCClient.Photo], pushToken: String, scaler: (any PhotoScaling)? = nil
    ) async throws(HeliographError) {
        guard photos.count == former.photos.count else {
            let field = former.photos.first?.field.rawValue ?? ""
            throw ArgumentLimits.refusal(field, "Exactly \(former.photos.count) photos are needed, not \(photos.count)")
        }
        var parts = [Self.text(Self.pushTokenField, pushToken)] + Self.parts(of: former.texts)
        parts.append(Self.text("retake_of", former.session.id.wireText))
        // The API reads the photos of each field in the order of the failed upload.
        for (bad, photo) in zip(former.photos, photos).sorted(by: { $0.0.index < $1.0.index }) {
            parts.append(try await photo.part(of: bad.field.rawValue, bad.index + 1, scaler: scaler))
        }
        let secret = EKYCSecret(enrolmentToken: former.enrolmentToken, texts: former.texts, retaken: former.session)
        self.init(kind: former.kind, sender: former.sender, secret: secret, parts: parts, retakes: former.id)
    }
}

extension EKYCSessionDriver {
    /// What a retake of the session's bad photos needs; nil where they cannot be retaken, or not any more.
    var retake: EKYCRetake? {
        get async {
            let state = await runner.state
            guard state.activity == .awaitingRetake, case .ended(let outcome) = state.phase, let photos = outcome.photosToRetake,
                let until = outcome.retakeUntil, timeLeft(until: until) != nil, let record, let session = secret.session,
                // They are lost where a former process could not keep them.
                let texts = secret.texts
            else { return nil }
            return EKYCRetake(
                id: id, kind: kind, sender: record.sender, photos: photos, session: session, enrolmentToken: secret.enrolmentToken,
                texts: texts)
        }
    }

    /// The time for a retake; nil when it is over. A clock that was set back prolongs it to an hour at most.
    func timeLeft(until end: Date) -> Duration? {
        let left = end.timeIntervalSince(ports.time.now())
        return left > 0 && left <= Machine.maxRetakeTime ? .seconds(left) : nil
    }

    /// Waits for the end of the time for a retake.
    func awaitRetake(until end: Date) -> [Machine.Event] {
        becomeQuiet()
        guard let left = timeLeft(until: end) else { return [.retakeClosed] }
        start { [time = ports.time] in
            do { try await time.sleep(left) } catch { return nil }
            return .retakeClosed
        }
        return []
    }

    func closeRetake() async { await send(.retakeClosed) }

    /// Ends the time for a retake in the name of an account that another is about to take the place of.
    func closeRetakeOfAccount() async { if record?.sender == .account { await closeRetake() } }
}
