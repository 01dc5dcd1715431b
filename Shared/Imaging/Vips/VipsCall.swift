internal import CVips

/// One operation of libvips, run by its name with named arguments, as in libvips' documentation.
///
/// Names and types of arguments are checked when the operation runs; an unknown name is a bug of this module and throws an
/// error of code `unavailable`.
final class VipsCall {
    /// The value of an argument.
    enum Argument {
        case picture(VipsPicture)
        case whole(Int)
        case number(Double)
        case numbers([Double])
        case flag(Bool)
        /// A member of an enumeration, or a text.
        case choice(String)
        /// Bytes that must outlive the output pictures.
        case bytes(UnsafeRawBufferPointer)
    }

    private let name: String
    private let operation: UnsafeMutableRawPointer
    private var object: UnsafeMutablePointer<VipsObject> { operation.assumingMemoryBound(to: VipsObject.self) }

    /// Runs the operation, which for most operations only prepares the computation of pixels.
    ///
    /// - Parameter input: The picture that most operations call `in`.
    convenience init(
        _ name: String, input: VipsPicture? = nil, _ arguments: KeyValuePairs<String, Argument>
    ) throws(ImagingError) {
        let input = input.map { [("in", Argument.picture($0))] } ?? []
        try self.init(name, input + arguments.map { ($0.key, $0.value) })
    }

    /// Runs the operation with arguments given as an array.
    init(_ name: String, _ arguments: [(String, Argument)]) throws(ImagingError) {
        guard let made = vips_operation_new(name) else { throw VipsLibrary.failure(name, .unavailable) }
        self.name = name
        operation = UnsafeMutableRawPointer(made)
        for (property, argument) in arguments {
            guard argument.set(property, of: operation) else { throw VipsLibrary.failure("\(name).\(property)", .unavailable) }
        }
        guard vips_object_build(object) == 0 else { throw VipsLibrary.failure(name) }
    }

    deinit {
        vips_object_unref_outputs(operation.assumingMemoryBound(to: VipsObject.self))
        g_object_unref(operation)
    }

    /// An output picture.
    func picture(_ property: String = "out") throws(ImagingError) -> VipsPicture {
        var value = GValue.empty(of: vips_image_get_type())
        defer { g_value_unset(&value) }
        g_object_get_property(operation.assumingMemoryBound(to: GObject.self), property, &value)
        let image = g_value_dup_object(&value)
        return try VipsPicture(image?.assumingMemoryBound(to: VipsImage.self), name)
    }

    /// Output bytes.
    func bytes(_ property: String = "buffer") throws(ImagingError) -> [UInt8] {
        var value = GValue.empty(of: vips_blob_get_type())
        defer { g_value_unset(&value) }
        g_object_get_property(operation.assumingMemoryBound(to: GObject.self), property, &value)
        var count = 0
        guard let blob = g_value_get_boxed(&value), let start = vips_blob_get(blob.assumingMemoryBound(to: VipsBlob.self), &count)
        else { throw VipsLibrary.failure(name) }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}

extension VipsCall.Argument {
    /// Sets the value on an operation; returns false when it has no such argument.
    fileprivate func set(_ property: String, of operation: UnsafeMutableRawPointer) -> Bool {
        let object = operation.assumingMemoryBound(to: GObject.self)
        guard
            g_object_class_find_property(
                object.pointee.g_type_instance.g_class.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: GObjectClass.self) },
                property) != nil
        else { return false }
        if case .choice(let text) = self {
            return vips_object_set_argument_from_string(operation.assumingMemoryBound(to: VipsObject.self), property, text) == 0
        }
        var value = self.value
        g_object_set_property(object, property, &value)
        g_value_unset(&value)
        return true
    }

    private var value: GValue {
        switch self {
        case .picture(let picture):
            var value = GValue.empty(of: vips_image_get_type())
            g_value_set_object(&value, picture.image)
            return value
        case .whole(let number):
            var value = GValue.empty(of: GValue.integer)
            g_value_set_int(&value, Int32(number))
            return value
        case .number(let number):
            var value = GValue.empty(of: GValue.double)
            g_value_set_double(&value, number)
            return value
        case .numbers(let numbers):
            var value = GValue.empty(of: vips_array_double_get_type())
            vips_value_set_array_double(&value, numbers, Int32(numbers.count))
            return value
        case .flag(let flag):
            var value = GValue.empty(of: GValue.boolean)
            g_value_set_boolean(&value, flag ? 1 : 0)
            return value
        case .choice(let text):
            var value = GValue.empty(of: GValue.string)
            g_value_set_string(&value, text)
            return value
        case .bytes(let bytes):
            var value = GValue.empty(of: vips_blob_get_type())
            let blob = vips_blob_new(nil, bytes.baseAddress, bytes.count)
            g_value_set_boxed(&value, blob)
            if let blob { vips_area_unref(UnsafeMutableRawPointer(blob).assumingMemoryBound(to: VipsArea.self)) }
            return value
        }
    }
}

extension GValue {
    // The fundamental types, whose names in C are macros.
    static var integer: GType { g_type_from_name("gint") }
    static var double: GType { g_type_from_name("gdouble") }
    static var boolean: GType { g_type_from_name("gboolean") }
    static var string: GType { g_type_from_name("gchararray") }

    static func empty(of type: GType) -> GValue {
        var value = GValue()
        g_value_init(&value, type)
        return value
    }
}
