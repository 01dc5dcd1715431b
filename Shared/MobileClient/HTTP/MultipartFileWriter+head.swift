internal import Foundation

extension MultipartFileWriter {
    /// The boundary and the headers of a part (RFC 7578 §4.2).
    static func head(of part: Part, _ boundary: String) throws(HeliographError) -> Data {
        var text = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(try quoted(part.name))\""
        if let fileName = part.fileName { text += "; filename=\"\(try quoted(fileName))\"" }
        if let contentType = part.contentType {
            guard HeaderRules.isValue(contentType), !contentType.isEmpty else { throw unfit }
            text += "\r\nContent-Type: \(contentType)"
        }
        return Data("\(text)\r\n\r\n".utf8)
    }

    private static let unfit = HeliographError(.invalidArgument, "A name or media type of the form has characters that are not allowed")

    /// A name as browsers write it (HTML, Multipart form data): with only quotation marks escaped. A backslash is refused, because it
    /// escapes the next character for some readers and not for others.
    private static func quoted(_ name: String) throws(HeliographError) -> String {
        guard HeaderRules.isValue(name), !name.isEmpty, !name.contains("\\") else { throw unfit }
        return name.replacingOccurrences(of: "\"", with: "%22")
    }
}
