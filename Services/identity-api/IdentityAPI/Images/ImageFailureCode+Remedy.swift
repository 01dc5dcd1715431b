internal import WireFormat

extension ImageFailureCode {
    /// The remedy for the person or the app, in one sentence.
    var remedy: String {
        switch self {
        case .contentBlocked: "The rules for content do not allow this picture: choose another one; the same one is refused again."
        case .invalidImage: "The file cannot be read as a picture: choose another one, or send it again as JPEG."
        case .timeout: "It took too long: order it again."
        case .unavailable: "The generator takes no more work: order it again later."
        default: "Something went wrong: order it again."
        }
    }
}
