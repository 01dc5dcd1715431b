/// The words of the pushes and how long each part may be.
enum PushTexts {
    /// The most characters of a chat message that are shown.
    static let previewCharactersMax = 100
    /// The most characters of a name that comes from elsewhere.
    static let nameCharactersMax = 100
    /// The most characters of a reason.
    static let reasonCharactersMax = 200

    static let hiddenMessage = "New message"

    static func signUpBody(succeeded: Bool) -> String {
        succeeded ? "Face registration completed successfully." : "Face registration failed. Please try again."
    }

    static func signInBody(succeeded: Bool) -> String {
        succeeded ? "Face verification successful." : "Face verification failed. Please try again."
    }

    /// Cuts a text to a number of characters as a reader counts them; the last one is then an ellipsis.
    static func cut(_ text: String, to charactersMax: Int) -> String {
        text.count <= charactersMax ? text : text.prefix(charactersMax - 1) + "…"
    }
}
