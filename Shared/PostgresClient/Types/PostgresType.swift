/// The object identifier (OID) of a type of the server.
public struct PostgresType: RawRepresentable, Sendable, Hashable {
    /// The OID, as in `pg_type`.
    public let rawValue: UInt32

    /// Creates a type from its OID.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// `boolean`
    public static let bool = PostgresType(16)
    /// `bytea`
    public static let bytea = PostgresType(17)
    /// `"char"`
    static let char = PostgresType(18)
    static let name = PostgresType(19)
    /// `bigint`
    public static let int8 = PostgresType(20)
    /// `smallint`
    public static let int2 = PostgresType(21)
    /// `integer`
    public static let int4 = PostgresType(23)
    /// `text`
    public static let text = PostgresType(25)
    static let oid = PostgresType(26)
    /// `json`
    public static let json = PostgresType(114)
    static let xml = PostgresType(142)
    /// `real`
    public static let float4 = PostgresType(700)
    /// `double precision`
    public static let float8 = PostgresType(701)
    static let unknown = PostgresType(705)
    static let bpchar = PostgresType(1042)
    static let varchar = PostgresType(1043)
    /// `timestamp with time zone`
    public static let timestamptz = PostgresType(1184)
    static let timestamp = PostgresType(1114)
    /// `uuid`
    public static let uuid = PostgresType(2950)
    /// `jsonb`
    public static let jsonb = PostgresType(3802)

    static let boolArray = PostgresType(1000)
    static let byteaArray = PostgresType(1001)
    static let int2Array = PostgresType(1005)
    static let int4Array = PostgresType(1007)
    static let textArray = PostgresType(1009)
    static let int8Array = PostgresType(1016)
    static let float4Array = PostgresType(1021)
    static let float8Array = PostgresType(1022)
    static let timestamptzArray = PostgresType(1185)
    static let uuidArray = PostgresType(2951)

    /// The first OID of user-defined types, such as enumerations.
    static let firstUserDefined: UInt32 = 16384

    /// Whether the binary form of the type is its UTF-8 text.
    var isTextual: Bool {
        switch self {
        case .text, .varchar, .bpchar, .name, .json, .xml, .unknown, .char: true
        default: rawValue >= Self.firstUserDefined
        }
    }
}
