internal import Accounts

/// A code in a mail, with the reference that the app of its request shows.
struct MailedCode: Sendable, Equatable {
    let code: String
    let reference: String
    let purpose: EmailVerification.Purpose

    fileprivate var line: String { "\(reference)   \(code)" }
}

extension MailText {
    private static let ignore = "If you did not ask for it, ignore this mail, and do not pass the code on: without it nothing happens."
    private static let ignoreOthers =
        "You did not ask for the codes beside other references. Do not pass any of them on: without them nothing happens."
    private static let lifetimes = "A code is valid for 10 minutes after the first mail that has it."

    /// The mail with the codes of all requests of an address.
    ///
    /// - Parameters:
    ///   - codes: The codes, at least one.
    ///   - hasAccount: Whether the address has an account, which only its owner may learn, and learns by this mail.
    init(_ codes: [MailedCode], hasAccount: Bool) {
        self = hasAccount ? Self.account(codes.filter { $0.purpose == .registration || $0.purpose == .signIn }) : Self.codes(codes)
    }

    /// The mail to an address without an account.
    private static func codes(_ codes: [MailedCode]) -> MailText {
        let signUps = codes.filter { $0.purpose != .emailChange }
        let changes = codes.filter { $0.purpose == .emailChange }
        let signUp = "This address was used to sign up."
        let change = "This address was named as the new e-mail address of an account."
        if codes.count == 1, let code = codes.first {
            return MailText(
                "\(code.code) is your code",
                [
                    changes.isEmpty ? signUp : change,
                    "Your code is \(code.code). It is valid for 10 minutes. Enter it in the app that you asked for it, if it shows the "
                        + "reference \(code.reference).",
                    ignore,
                ])
        }
        return MailText(
            "Your codes",
            ["Several codes were asked for. Your app shows a reference of four letters: enter the code that stands beside it."]
                + (signUps.isEmpty ? [] : [signUp, list(signUps)]) + (changes.isEmpty ? [] : [change, list(changes)])
                + [lifetimes, ignoreOthers])
    }

    /// The mail to an address with an account.
    ///
    /// - Parameter codes: The codes that recover the account or sign in to it; other codes would have no effect.
    private static func account(_ codes: [MailedCode]) -> MailText {
        let signIns = codes.filter { $0.purpose == .signIn }
        guard signIns.isEmpty else { return signIn(signIns, recoveries: codes.filter { $0.purpose == .registration }) }
        guard let code = codes.first else {
            return MailText(
                "Somebody used your address",
                [
                    "This address was named in an app, but it has an account already. Nothing has changed: you can sign in with your face.",
                    "If it was not you, ignore this mail.",
                ])
        }
        let known = "This address was used to sign up, but it has an account already. You can sign in with your face."
        let subject = "Somebody signed up with your address"
        if codes.count == 1 {
            return MailText(
                subject,
                [
                    known,
                    "If your face is no longer recognised, you can recover the account with this code: \(code.code). It is valid for 10 "
                        + "minutes, in the app that shows the reference \(code.reference).",
                    ignore,
                ])
        }
        return MailText(
            subject,
            [
                known,
                "If your face is no longer recognised, you can recover the account. Your app shows a reference of four letters: enter the "
                    + "code that stands beside it.",
                list(codes), lifetimes, ignoreOthers,
            ])
    }

    /// The mail about sign-ins on devices that are new to the account.
    private static func signIn(_ codes: [MailedCode], recoveries: [MailedCode]) -> MailText {
        let found = "Your face was recognised on a device that is new to your account."
        let warning = "If it was not you, another person has photos of you. Do not pass the code on: without it they cannot sign in."
        if codes.count == 1, recoveries.isEmpty, let code = codes.first {
            return MailText(
                "\(code.code) is your code to sign in",
                [
                    found,
                    "If it was you, your code is \(code.code). It is valid for 10 minutes. Enter it in the app, if it shows the reference "
                        + "\(code.reference).",
                    warning,
                ])
        }
        let recover = "Codes that recover the account, if your face is no longer recognised:"
        return MailText(
            "Your codes to sign in",
            [found, "Your app shows a reference of four letters: enter the code that stands beside it.", list(codes)]
                + (recoveries.isEmpty ? [] : [recover, list(recoveries)]) + [lifetimes, warning, ignoreOthers])
    }

    private static func list(_ codes: [MailedCode]) -> String { codes.map(\.line).joined(separator: "\n") }
}
