/// The limits of a JSON object that is read as it arrives, apart from its streamed strings.
struct JSONStreamLimits: Sendable, Equatable {
    /// The maximum number of bytes of a name, escapes included.
    var maxNameBytes = 128
    /// The maximum number of bytes of a value that is not streamed, escapes included.
    var maxValueBytes = 16 * 1024
    /// The maximum number of members of the object.
    var maxMembers = 32
    /// The maximum number of bytes of white space between two tokens.
    var maxBlankBytes = 64 * 1024
}
