/// What a face session is for.
public enum EkycEvent: String, Codable, Sendable, CaseIterable {
    case signUp = "sign_up"
    case signIn = "sign_in"
}
