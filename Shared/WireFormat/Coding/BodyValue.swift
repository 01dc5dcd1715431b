public import FoundationEssentials
public import JSON

/// A value in a body: a text, a number, a time, an id, a word, an object, or a list or dictionary of those.
public protocol BodyValue: Sendable {
    /// Reads the value.
    ///
    /// - Throws: ``BodyFault`` when it is of another kind or out of its range.
    init(json: JSONElement) throws(BodyFault)

    /// Writes the value.
    func write(to json: inout JSONWriter)
}

extension String: BodyValue {
    public init(json: JSONElement) throws(BodyFault) {
        guard let text = json.string else { throw BodyFault(json, isNot: "a text") }
        self = text
    }

    public func write(to json: inout JSONWriter) { json.string(self) }
}

extension Bool: BodyValue {
    public init(json: JSONElement) throws(BodyFault) {
        guard let truth = json.boolean else { throw BodyFault(json, isNot: "true or false") }
        self = truth
    }

    public func write(to json: inout JSONWriter) { json.bool(self) }
}

extension Int: BodyValue {
    public init(json: JSONElement) throws(BodyFault) {
        guard let number = json.integer else { throw BodyFault(json, isNot: "a whole number in range") }
        self = number
    }

    public func write(to json: inout JSONWriter) { json.integer(self) }
}

/// Whole milliseconds since 1970, until the end of the year 9999.
extension Date: BodyValue {
    public init(json: JSONElement) throws(BodyFault) {
        let milliseconds = Int64(try Int(json: json))
        guard (0...Self.maxWireMilliseconds).contains(milliseconds) else { throw BodyFault(json, isNot: "a time from 1970 to 9999") }
        self.init(millisecondsSince1970: milliseconds)
    }

    public func write(to json: inout JSONWriter) { json.integer(Int(millisecondsSince1970)) }
}

/// Lower case, as in the HTTP API.
extension UUID: BodyValue {
    public init(json: JSONElement) throws(BodyFault) {
        var id: UUID?
        json.withText { id = UUID(wireBytes: $0) }
        guard let id else { throw BodyFault(json, isNot: "a UUID") }
        self = id
    }

    public func write(to json: inout JSONWriter) { withWireText { json.string(unescaped: $0) } }
}

/// One of the words that this build knows.
public protocol BodyWord: BodyValue, RawRepresentable<String>, CaseIterable {}

extension BodyWord {
    public init(json: JSONElement) throws(BodyFault) {
        guard let word = Self.allCases.first(where: { json.isText($0.rawValue) }) else {
            throw json.string == nil ? BodyFault(json, isNot: "a text") : BodyFault("has a value that is not known")
        }
        self = word
    }

    public func write(to json: inout JSONWriter) { json.string(rawValue) }
}

extension Array: BodyValue where Element: BodyValue {
    public init(json: JSONElement) throws(BodyFault) {
        guard let elements = json.elements else { throw BodyFault(json, isNot: "a list") }
        self = []
        reserveCapacity(elements.count)
        for element in elements {
            do throws(BodyFault) { append(try Element(json: element)) } catch { throw error.within("\(count)") }
        }
    }

    public func write(to json: inout JSONWriter) {
        json.array { json in
            for element in self { element.write(to: &json) }
        }
    }
}

/// An object of texts. Of a name that is there twice, the first counts; names are written in ascending order.
extension [String: String]: BodyValue {
    public init(json: JSONElement) throws(BodyFault) {
        var texts: [String: String] = [:]
        let isObject = try json.forEachMember { name, value throws(BodyFault) in
            guard texts[name] == nil else { return }
            // Without the name, which the sender chose.
            do throws(BodyFault) { texts[name] = try String(json: value) } catch { throw error.within("*") }
        }
        guard isObject else { throw BodyFault(json, isNot: "an object") }
        self = texts
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            for (name, text) in self.sorted(by: { $0.key < $1.key }) { json.member(name, text) }
        }
    }
}
