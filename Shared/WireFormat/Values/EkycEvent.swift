/// The purpose of a face session.
public enum EkycEvent: String, BodyWord {
    case signUp = "sign_up"
    case signIn = "sign_in"
}
