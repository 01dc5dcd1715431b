internal import Storage
internal import WireFormat

/// What an upload of photos must look like.
struct UploadForm: Sendable {
    /// One field of photos.
    struct PhotoField: Sendable {
        let name: String
        let pose: SessionPhoto.Pose
        /// How many photos it has: exactly.
        let count: Int
    }

    /// What the session is for.
    let event: EkycEvent
    /// The fields of photos, in the order in which a missing one is complained of.
    let photoFields: [PhotoField]
    /// The plain fields.
    let textFields: Set<String>
    /// Names the request in the keys of repeatable ones.
    let route: String
    /// The message of the successful response.
    let successMessage: String

    static let pushToken = "fcm_token"
    static let email = "email"

    static let signUp = UploadForm(
        event: .signUp,
        photoFields: [
            PhotoField(name: "left_faces", pose: .left, count: 3), PhotoField(name: "right_faces", pose: .right, count: 3),
            PhotoField(name: "front_faces", pose: .front, count: 3),
        ],
        textFields: [pushToken, email], route: "POST /api/v1/ekyc/upload-photos", successMessage: "Photos uploaded successfully")

    static let signIn = UploadForm(
        event: .signIn, photoFields: [PhotoField(name: "faces", pose: .any, count: 3)],
        textFields: [pushToken, email], route: "POST /api/v1/ekyc/login", successMessage: "Login event published successfully")
}
