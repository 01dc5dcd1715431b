/// The reason why a face session did not succeed; shown by the session's status only, never in a push.
public enum SessionReason: String, BodyWord {
    case noFace = "no_face"
    case multipleFaces = "multiple_faces"
    case faceTooSmall = "face_too_small"
    case lowQuality = "low_quality"
    /// A photo cannot be decoded: the app sends it in another format or smaller, which another photo of the same kind does not mend.
    case invalidImage = "invalid_image"
    case poseMismatch = "pose_mismatch"
    case inconsistentFaces = "inconsistent_faces"
    case duplicateImages = "duplicate_images"
    case replayedImage = "replayed_image"
    /// The photos that answer a challenge are not ones of a live person who followed it.
    case livenessFailed = "liveness_failed"
    /// Also the reason for an account without a face, so that callers cannot find out which accounts have a face.
    case noMatch = "no_match"
    case alreadyEnrolled = "already_enrolled"
    /// Only for an owner of a proven e-mail or of an account, and only if the operator has chosen so.
    case faceInUse = "face_in_use"
    case timeout
    case `internal`
}
