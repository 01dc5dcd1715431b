/// The purpose of a face session.
public enum EkycEvent: String, Codable, Sendable, CaseIterable {
    case signUp = "sign_up"
    case signIn = "sign_in"
}
