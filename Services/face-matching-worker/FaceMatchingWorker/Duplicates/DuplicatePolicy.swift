/// The action when the face of a sign-up seems to belong to another account.
enum DuplicatePolicy: String, Sendable, CaseIterable {
    /// It is not looked for.
    case off
    /// The sign-up goes on, and an operator may look at both accounts.
    case review
    /// The sign-up fails with `face_in_use`, once its sender has proven an e-mail address.
    case refuse
}
