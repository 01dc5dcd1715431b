internal import Accounts
internal import WireFormat

/// A bad photo of a failed session, by its place in the form of the upload.
struct BadPhoto: APIObject {
    static let members: [APIMember<BadPhoto>] = [
        .required("field", \.field), .required("index", \.index),
        .required("problems", \.problems, .array(of: PhotoProblem.schema.described(remedies), from: 1)),
    ]
    private static let remedies = PhotoProblem.allCases.map { "`\($0.rawValue)`: \($0.remedy)" }.joined(separator: " ")

    /// The form field.
    let field: String
    /// Its number among the files of the field, counted from 0.
    let index: Int
    let problems: [PhotoProblem]

    /// The bad photos of a session; nil without any.
    static func all(of session: Session) -> [BadPhoto]? {
        guard !session.photoProblems.isEmpty else { return nil }
        let form = UploadForm.of(session.event)
        return session.photoProblems.compactMap { photo in
            form.field(of: photo.pose).map { BadPhoto(field: $0.name, index: photo.index, problems: photo.problems) }
        }
    }
}

extension PhotoProblem: APIWord {}

extension PhotoProblem {
    /// The remedy for the person, in one sentence.
    var remedy: String {
        switch self {
        case .undecodable: "The app sends the photo again as a smaller JPEG; another photo of the same kind does not help."
        case .noFace: "Hold the phone so that the whole face is in the photo."
        case .severalFaces: "Be alone in the photo."
        case .tooSmall: "Come nearer to the camera."
        case .cutOff: "Hold the phone so that no part of the face is beyond the edge."
        case .tilted: "Hold the head upright."
        case .tooDark: "Look for more light on the face."
        case .tooBright: "Go out of the glaring light, or away from the lamp."
        case .lowContrast: "Clean the lens, and do not stand against the light."
        case .blurred: "Hold the phone and the head still, and clean the lens."
        case .noisy: "Look for more light: the camera has amplified too little of it."
        case .turnedTooLittle: "Turn the head farther to the side of the field."
        case .turnedTooFar: "Turn the head less; for `front_faces`, look into the camera."
        case .turnedWrongWay: "Turn the head to the other side."
        case .looksLikeAnotherPhoto: "Take a new photo: this one is a copy of an earlier one of the upload."
        }
    }
}
