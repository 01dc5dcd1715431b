internal import WireFormat

/// The form of a sign-up.
struct SignUpForm: FormBody {
    static let schema = UploadForm.signUp.schema(with: [
        (UploadForm.recovery, .one(of: ["true", "false"])), (ConsentRequirement.field, .text),
    ])
    static let maxBytes = UploadLimits().bodyBytes

    let stream: FormStream
}

/// The form of a sign-in.
struct SignInForm: FormBody {
    static let schema = UploadForm.signIn.schema(with: [])
    static let maxBytes = UploadLimits().bodyBytes

    let stream: FormStream
}

extension UploadForm {
    /// The schema of the form, with fields that it does not have in common with other forms.
    fileprivate func schema(with others: [(String, JSONSchema)]) -> JSONSchema {
        func photos(isOptional: Bool) -> [(String, JSONSchema)] {
            photoFields.filter { $0.isOptional == isOptional }
                .map { ($0.name, JSONSchema.array(of: .file, upTo: $0.count, from: $0.count)) }
        }
        let email: [(String, JSONSchema)] = [(Self.email, .text)]
        let required = photos(isOptional: false) + (event == .signIn ? email : [])
        let challenge = [(ChallengeGate.field, JSONSchema.text)] + photos(isOptional: true)
        let optional = [(Self.pushToken, .text)] + others + (event == .signIn ? [] : email) + challenge
        return .object(required, optional: optional).described("Fields and files of other names are ignored, and not stored")
    }
}
