/// Makes a picture of a picture, in a template's manner.
public protocol ImageGenerator: Sendable {
    /// What `modelUsed` says when the generator does not learn more of itself: `local`, or a model's name.
    var name: String { get }

    /// Makes one picture, by one call of whatever makes it: nothing is tried again in here.
    ///
    /// Whoever pays for calls counts them, so repeating is the caller's business; ``GenerationError/isTerminal`` and
    /// ``GenerationError/retryAfter`` say whether it makes sense.
    ///
    /// - Throws: `cancelled` when the calling task is cancelled, `timeout` when the request's deadline is over; otherwise
    ///   see ``GenerationError/Code``.
    func generate(_ request: GenerationRequest) async throws(GenerationError) -> GeneratedImage
}
