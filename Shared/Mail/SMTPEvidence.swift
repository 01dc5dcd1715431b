internal import CLibCurl

/// The facts about a transfer that has ended, from which its error is concluded.
struct SMTPEvidence {
    /// The progress of a session: the last command sent.
    enum Step: Equatable {
        /// Connecting, TLS, EHLO and authentication: the server has not got any part of the mail.
        case session
        /// `MAIL`, with the sender.
        case sender
        /// `RCPT`, with the recipient.
        case recipient
        /// `DATA`, and the mail itself.
        case data

        /// Advances to the step of a command, if it is one.
        mutating func advance(_ command: some Collection<UInt8>) {
            switch String(decoding: command.prefix(5), as: UTF8.self) {
            case "EHLO ", "HELO ": self = .session
            case "MAIL ": self = .sender
            case "RCPT ": self = .recipient
            case "DATA\r": self = .data
            default: break
            }
        }
    }

    let result: CURLcode
    /// The server's last reply code; 0 without a reply.
    let reply: Int
    let step: Step
    /// The content of libcurl's error buffer, which names the server at most.
    let detail: String
    /// Whether the connection had served an earlier mail.
    var isReused = false
    /// Whether the mail was given up because such a connection fell silent (``SMTPTransfer/isSilent``).
    var isSilent = false
    /// Whether the server announced SMTPUTF8; nil when no session began, or it began with an earlier mail.
    var takesInternationalAddresses: Bool?

    /// Whether the connection was closed or fell silent before the server knew of the mail: it may be sent again over another one.
    var isStale: Bool {
        if result == CURLE_ABORTED_BY_CALLBACK, isSilent { return true }
        let isLost = [CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING].contains(result)
        return isReused && isLost && step != .data && (reply == 0 || reply == 421)
    }

    /// The error; nil when the server took the mail.
    var error: MailError? {
        if result == CURLE_OK { return nil }
        switch result {
        case CURLE_ABORTED_BY_CALLBACK: return MailError(.unavailable, "the mail was abandoned on its way")
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_NOT_BUILT_IN, CURLE_USE_SSL_FAILED, CURLE_SSL_CONNECT_ERROR,
            CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
            return failure(.misconfigured)
        case CURLE_LOGIN_DENIED, CURLE_REMOTE_ACCESS_DENIED, CURLE_AUTH_ERROR:
            return failure(isTransient ? .unavailable : .misconfigured)
        // An earlier reply of the server is not the reason: the connection was lost, or was never made.
        case CURLE_OPERATION_TIMEDOUT, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_RECV_ERROR, CURLE_GOT_NOTHING:
            return failure(.unavailable)
        default:
            return refusal
        }
    }

    private var isTransient: Bool { (400..<500).contains(reply) }

    /// The error of a reply, by the step that it answers. 530 and 535 ask for TLS or for authentication (RFC 3207, RFC 4954), whatever
    /// the step.
    private var refusal: MailError {
        guard (500..<600).contains(reply), step != .session else { return failure(.unavailable) }
        if reply == 530 || reply == 535 || reply == 538 { return failure(.misconfigured) }
        // 552: the mail is too large (RFC 1870 § 6.1), which is announced with the sender.
        return failure(step == .sender && reply != 552 ? .misconfigured : .recipientRefused)
    }

    private func failure(_ code: MailError.Code) -> MailError {
        let what =
            switch step {
            case .session: detail.isEmpty ? String(cString: curl_easy_strerror(result)) : detail
            case .sender: "the server did not accept the sender"
            case .recipient: "the server did not accept the recipient"
            case .data: "the server did not confirm the mail"
            }
        let isReply = result != CURLE_OPERATION_TIMEDOUT && result != CURLE_RECV_ERROR && reply >= 400
        return MailError(code, what, reply: isReply ? reply : nil, curlCode: Int(result.rawValue))
    }
}
