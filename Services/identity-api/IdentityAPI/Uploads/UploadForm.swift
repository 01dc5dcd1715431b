internal import Accounts
internal import WireFormat

/// The expected form of an upload of photos.
struct UploadForm: Sendable {
    /// One field of photos.
    struct PhotoField: Sendable {
        let name: String
        let pose: SessionPhoto.Pose
        /// The exact number of photos.
        let count: Int
        /// Whether they may be missing.
        var isOptional = false

        /// Refuses another number of photos than the expected one.
        func check(_ given: Int, of expected: Int) throws(APIError) {
            guard given != expected else { return }
            throw given == 0
                ? APIError(.missingField, "Photos are missing", field: name)
                : APIError(.invalidPhotoCount, "Exactly \(expected) photos are needed", field: name)
        }
    }

    /// The event of the session: sign-up or sign-in.
    let event: EkycEvent
    /// The fields of photos. The first missing one in this order is reported.
    let photoFields: [PhotoField]
    /// The text fields.
    let textFields: Set<String>
    /// The route in the request's ``IdempotencyScope``.
    let route: String
    /// The message of the successful response.
    let successMessage: String

    /// The fields that are read.
    var fields: MultipartBody.Fields { MultipartBody.Fields(pictures: Set(photoFields.map(\.name)), texts: textFields) }

    /// Returns the form of the uploads for an event.
    static func of(_ event: EkycEvent) -> UploadForm {
        switch event {
        case .signUp: signUp
        case .signIn: signIn
        }
    }

    /// Returns the field of the photos with a pose.
    func field(of pose: SessionPhoto.Pose) -> PhotoField? { photoFields.first { $0.pose == pose } }

    static let pushToken = "fcm_token"
    static let email = "email"
    /// `true` asks for the recovery of the proven e-mail's account; only with an enrolment token.
    static let recovery = "recovery"
    /// The id of the failed session whose named photos alone are sent, with its token in `X-Session-Token`.
    static let retakeOf = "retake_of"

    static let signUp = UploadForm(
        event: .signUp,
        photoFields: [
            PhotoField(name: "left_faces", pose: .left, count: 3), PhotoField(name: "right_faces", pose: .right, count: 3),
            PhotoField(name: "front_faces", pose: .front, count: 3),
            PhotoField(
                name: ChallengeGate.photosField, pose: .challenge, count: LivenessPose.countInChallenge, isOptional: true),
        ],
        textFields: [pushToken, email, recovery, retakeOf, ConsentRequirement.field, ChallengeGate.field],
        route: "POST /api/v1/ekyc/upload-photos",
        successMessage: "Photos uploaded successfully")

    static let signIn = UploadForm(
        event: .signIn, photoFields: [PhotoField(name: "faces", pose: .any, count: 3)],
        textFields: [pushToken, email, retakeOf, ChallengeGate.field], route: "POST /api/v1/ekyc/login",
        successMessage: "Login event published successfully")
}
