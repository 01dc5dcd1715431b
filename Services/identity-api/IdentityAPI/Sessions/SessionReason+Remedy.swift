internal import WireFormat

extension SessionReason {
    /// The remedy for the person or the app, in one sentence.
    var remedy: String {
        switch self {
        case .noFace: "No face is seen in a photo: hold the phone so that the whole face is in it."
        case .multipleFaces: "A photo has a second face: be alone in it."
        case .faceTooSmall: "The face is too small in a photo: come nearer to the camera."
        case .lowQuality: "A photo is blurred, dark, bright, tilted or cut off: `photos` says which one, and why."
        case .invalidImage: "A photo cannot be decoded: the app sends it again as JPEG; another photo of the same kind does not help."
        case .poseMismatch: "The head is not turned as the field of the photo says: take left, right and front photos."
        case .inconsistentFaces: "The photos show more than one person: take all of them of one."
        case .duplicateImages: "One photo was sent several times: take different ones."
        case .replayedImage: "A photo was sent before: take new ones."
        case .livenessFailed: "The photos do not show a live person who did what was asked: ask for another challenge, and take new photos."
        case .noMatch: "The face is not that of the account, or there is no such account: sign in with the right e-mail, or sign up."
        case .alreadyEnrolled: "The address has an account: sign in, or recover it."
        case .faceInUse: "Another account has the face: sign in to that one."
        case .timeout: "It took too long: send the photos again."
        case .internal: "Something went wrong on our side: send the photos again later."
        }
    }
}
