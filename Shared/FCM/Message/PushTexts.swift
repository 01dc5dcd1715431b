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

    static func invitationBody(topic: String) -> String {
        "You have been invited to \(topic.hasPrefix("event:") ? "an event" : "a conversation")."
    }

    /// The most bytes a character may take on average: one can have dozens, and a message must fit 4 KB.
    private static let bytesPerCharacterMax = 8

    /// Cuts a text to a number of characters as a reader counts them; the last one is then an ellipsis.
    ///
    /// A text of very long characters, such as families, is cut earlier. A character is never cut in two.
    static func cut(_ text: String, to charactersMax: Int) -> String {
        let byteCountMax = charactersMax * bytesPerCharacterMax
        if text.count <= charactersMax, text.utf8.count <= byteCountMax { return text }
        var kept = text.prefix(charactersMax - 1)
        while kept.utf8.count > byteCountMax - ellipsis.utf8.count { kept.removeLast() }
        return kept + ellipsis
    }

    private static let ellipsis = "…"
}
