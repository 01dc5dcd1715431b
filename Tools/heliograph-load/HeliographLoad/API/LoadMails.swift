internal import CommandLineSupport
internal import Foundation
internal import HTTPClient
internal import JSON

/// Reads the codes that are mailed to the load's accounts.
struct LoadMails: Sendable {
    /// The URL of the FCM emulator, which receives the mails; nil without an emulator.
    let emulator: String?
    let http: HTTPClient
    /// The longest wait for a mail.
    let patience: Duration

    /// Waits for the mail to an address, and returns the code in it.
    func code(to address: String) async throws(LoadFailure) -> String {
        guard let emulator else {
            throw LoadFailure(at: nil, "accounts need their mails: name the emulator that identity-api sends them to")
        }
        let wait = min(60, max(1, Int(patience.seconds)))
        let request = HTTPClientRequest(
            url: "\(emulator)/control/mails?to=\(address)&wait=\(wait)", timeout: .seconds(wait + 10))
        guard let response = try? await http.execute(request), response.status == 200,
            let mail = try? JSONValue(parsing: response.body)["mails"]?.elements?.last, let text = mail["text"]?.string,
            let code = text.firstMatch(of: #/[0-9]{6}/#)
        else { throw LoadFailure(at: nil, "no mail with a code came to an account") }
        return String(code.output)
    }
}
