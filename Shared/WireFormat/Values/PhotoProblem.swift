/// A problem of one photo of a face session, which the photos of the session show alone; shown by the session's status only, never in a
/// push.
public enum PhotoProblem: String, Sendable, CaseIterable, Codable {
    case undecodable
    case noFace = "no_face"
    case severalFaces = "several_faces"
    case tooSmall = "too_small"
    case cutOff = "cut_off"
    case tilted
    case tooDark = "too_dark"
    case tooBright = "too_bright"
    case lowContrast = "low_contrast"
    case blurred
    case noisy
    case turnedTooLittle = "turned_too_little"
    case turnedTooFar = "turned_too_far"
    /// The head is turned to the side of the opposite field.
    case turnedWrongWay = "turned_wrong_way"
    /// The photo is a copy of an earlier one of its upload.
    case looksLikeAnotherPhoto = "looks_like_another_photo"
}
