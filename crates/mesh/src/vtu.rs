//! Unstructured grids of VTK in XML (`.vtu`): arrays as text, in base 64, or behind the XML; packed with zlib or not.
//!
//! The pieces of a file are put one behind the other. Data of points and cells are not read. ("VTK file formats", XML file formats.)

use std::borrow::Cow;

use roxmltree::Node;

use crate::binary::Form;
use crate::cursor::{Cursor, Outcome, append, push};
use crate::encoded::{Encoding, Unread};
use crate::fault::{MeshFault, Stop};
use crate::format::Format;
use crate::mesh::Mesh;
use crate::vtk::check;
use viem::base::number;
use viem_io::xml;

pub(crate) const FORMAT: Format = Format { name: "vtu", read };

const APPENDED: &[u8] = b"<AppendedData";
/// What closes a document of which the data behind it were cut off.
const END: &str = "</VTKFile>";

/// What all arrays of a file have in common.
struct File<'a> {
    cursor: Cursor<'a>,
    encoding: Encoding,
    /// The data behind the XML, and whether they are in base 64.
    appended: Option<(&'a [u8], bool)>,
}

/// The numbers of an array, of which each has so many bytes.
#[derive(Clone, Copy)]
struct Type {
    bytes: usize,
    is_float: bool,
    is_signed: bool,
}

fn read(cursor: &mut Cursor<'_>) -> Outcome<Mesh> {
    let bytes = cursor.rest();
    let cut = bytes.windows(APPENDED.len()).position(|window| window == APPENDED);
    let text = std::str::from_utf8(&bytes[..cut.unwrap_or(bytes.len())]).map_err(|error| {
        let reason = "the text is not in UTF-8".to_owned();
        Stop::text(error.valid_up_to(), MeshFault::Malformed { reason })
    })?;
    let text = if cut.is_some() { Cow::Owned(text.to_owned() + END) } else { Cow::Borrowed(text) };
    let document = xml::open(&text)
        .map_err(|(offset, reason)| Stop::text(offset.min(bytes.len()), MeshFault::Malformed { reason }))?;
    let root = document.root_element();
    let file = File::new(cursor.clone(), root, cut.map(|cut| &bytes[cut..]))?;
    let grid = child(root, "UnstructuredGrid")?;
    let mut mesh = Mesh::default();
    for piece in grid.children().filter(|node| node.has_tag_name("Piece")) {
        file.read_piece(piece, &mut mesh)?;
    }
    mesh.of_highest_dimension(grid.range().start)
}

/// The element of a name inside of another one.
fn child<'a, 'input>(node: Node<'a, 'input>, name: &'static str) -> Outcome<Node<'a, 'input>> {
    let found = node.children().find(|child| child.has_tag_name(name));
    found.ok_or_else(|| {
        malformed(node, format!("the element `{}` has no element `{name}`", node.tag_name().name()))
    })
}

fn malformed(node: Node<'_, '_>, reason: impl Into<String>) -> Stop {
    Stop::text(node.range().start, MeshFault::Malformed { reason: reason.into() })
}

/// The data after the tag that opens them and `_`, and whether they are in base 64.
fn appended(bytes: &[u8]) -> Option<(&[u8], bool)> {
    let tag = bytes.iter().position(|&byte| byte == b'>')?;
    let is_base64 = bytes[..tag].windows(6).any(|window| window == b"base64");
    let start = tag + bytes[tag..].iter().position(|&byte| byte == b'_')? + 1;
    Some((&bytes[start..], is_base64))
}

impl<'a> File<'a> {
    fn new(cursor: Cursor<'a>, root: Node<'_, '_>, behind: Option<&'a [u8]>) -> Outcome<Self> {
        let unsupported =
            |what: String, hint| Stop::text(root.range().start, MeshFault::Unsupported { what, hint });
        match root.attribute("type") {
            Some("UnstructuredGrid") => {}
            Some(other) => {
                let hint = "save the data as an unstructured grid (.vtu)";
                return Err(unsupported(format!("a file of the type {other}"), hint));
            }
            None => return Err(malformed(root, "expected the element VTKFile with a type")),
        }
        let is_packed = match root.attribute("compressor") {
            None | Some("") => false,
            Some("vtkZLibDataCompressor") => true,
            Some(other) => {
                let hint = "save the file with zlib, or without compression";
                return Err(unsupported(format!("a file packed by {other}"), hint));
            }
        };
        let is_big = root.attribute("byte_order") == Some("BigEndian");
        let form = if is_big { Form::BigEndian } else { Form::LittleEndian };
        let header = if root.attribute("header_type") == Some("UInt64") { 8 } else { 4 };
        let no_start = || malformed(root, "the appended data have no start");
        let appended = behind.map(|bytes| appended(bytes).ok_or_else(no_start)).transpose()?;
        Ok(Self { cursor, encoding: Encoding { form, header, is_packed }, appended })
    }

    fn read_piece(&self, piece: Node<'_, '_>, mesh: &mut Mesh) -> Outcome<()> {
        let first = mesh.num_nodes as u64;
        let points = child(child(piece, "Points")?, "DataArray")?;
        let coordinates = self.reals(points)?;
        let (found, rest) = coordinates.as_chunks::<3>();
        if !rest.is_empty() {
            return Err(malformed(points, "the points do not have three coordinates each"));
        }
        append(&mut mesh.points, found)?;
        mesh.num_nodes = mesh.points.len();
        let cells = child(piece, "Cells")?;
        let array = |name: &str| {
            let is_it =
                |node: &Node<'_, '_>| node.has_tag_name("DataArray") && node.attribute("Name") == Some(name);
            let node = cells.children().find(is_it);
            let node = node.ok_or_else(|| malformed(cells, format!("the cells have no array `{name}`")))?;
            Ok::<_, Stop>((node, self.integers(node)?))
        };
        let ((at, connectivity), (_, offsets)) = (array("connectivity")?, array("offsets")?);
        let (of_types, types) = array("types")?;
        if offsets.len() != types.len() {
            let reason = format!("there are {} types, but {} cells", types.len(), offsets.len());
            return Err(malformed(of_types, reason));
        }
        let (mut start, mut nodes) = (0, Vec::new());
        for (&end, &cell_type) in offsets.iter().zip(&types) {
            let row = usize::try_from(end).ok().and_then(|end| connectivity.get(start..end));
            let row = row.ok_or_else(|| malformed(at, format!("a cell cannot end at {end}")))?;
            start = end as usize;
            nodes.clear();
            for &node in row {
                let place = u32::try_from(node.saturating_add(first)).ok();
                let missing = || Stop::text(at.range().start, MeshFault::NoSuchNode { node });
                push(&mut nodes, place.ok_or_else(missing)?)?;
            }
            let kind = check(cell_type, &nodes, mesh.num_nodes);
            mesh.push(kind.map_err(|fault| Stop::text(at.range().start, fault))?, &nodes)?;
        }
        Ok(())
    }

    /// The entries of an array as finite numbers.
    fn reals(&self, array: Node<'_, '_>) -> Outcome<Vec<f64>> {
        let form = self.encoding.form;
        let of_bytes = |bytes: &[u8], of: Type| {
            let number = if of.is_float { form.float(bytes) } else { form.unsigned(bytes) as f64 };
            Some(number).filter(|number| number.is_finite())
        };
        self.entries(array, "a coordinate", number::real, of_bytes)
    }

    /// The entries of an array as whole numbers.
    fn integers(&self, array: Node<'_, '_>) -> Outcome<Vec<u64>> {
        let form = self.encoding.form;
        let of_bytes = |bytes: &[u8], of: Type| {
            let number = form.unsigned(bytes);
            let is_negative = of.is_signed && number >> (8 * of.bytes - 1) == 1;
            (!of.is_float && !is_negative).then_some(number)
        };
        self.entries(array, "a whole number from 0", |text| number::whole(text).ok(), of_bytes)
    }

    fn entries<T>(
        &self,
        array: Node<'_, '_>,
        expected: &'static str,
        of_text: impl Fn(&[u8]) -> Option<T>,
        of_bytes: impl Fn(&[u8], Type) -> Option<T>,
    ) -> Outcome<Vec<T>> {
        let mut entries = Vec::new();
        let text = array.children().find(Node::is_text);
        if array.attribute("format") == Some("ascii") {
            let Some(text) = text else { return Ok(entries) };
            let mut cursor = self.cursor.within(text.range());
            loop {
                let word = cursor.word();
                if word.text.is_empty() {
                    return Ok(entries);
                }
                push(&mut entries, of_text(word.text).ok_or_else(|| word.unexpected(expected))?)?;
            }
        }
        let of = data_type(array)?;
        let bytes = self.bytes(array, text)?;
        for bytes in bytes.chunks(of.bytes) {
            let entry = (bytes.len() == of.bytes).then(|| of_bytes(bytes, of)).flatten();
            let wrong = || malformed(array, format!("an entry of the array is not {expected}"));
            push(&mut entries, entry.ok_or_else(wrong)?)?;
        }
        Ok(entries)
    }

    /// The bytes of an array that is no text.
    fn bytes(&self, array: Node<'_, '_>, text: Option<Node<'_, '_>>) -> Outcome<Vec<u8>> {
        let (data, is_base64) = match array.attribute("format") {
            Some("binary") => (text.and_then(|text| text.text()).unwrap_or_default().as_bytes(), true),
            Some("appended") => {
                let (data, is_base64) =
                    self.appended.ok_or_else(|| malformed(array, "the file has no appended data"))?;
                let offset = array.attribute("offset").and_then(number::unsigned);
                let offset = offset.and_then(|offset| usize::try_from(offset).ok());
                let data = offset.and_then(|offset| data.get(offset..));
                (data.ok_or_else(|| malformed(array, "the appended data have no such offset"))?, is_base64)
            }
            _ => return Err(malformed(array, "the format of the array is not ascii, binary or appended")),
        };
        let decoded = self.encoding.decode(data, is_base64);
        decoded.map_err(|unread| match unread {
            Unread::Damaged(reason) => Stop::text(array.range().start, MeshFault::Packed { reason }),
            Unread::Memory(lack) => lack.into(),
        })
    }
}

fn data_type(array: Node<'_, '_>) -> Outcome<Type> {
    let name = array.attribute("type").unwrap_or_default();
    let number = |is_float: bool, is_signed, bits: &str| {
        let bytes = match bits {
            "8" if !is_float => 1,
            "16" if !is_float => 2,
            "32" => 4,
            "64" => 8,
            _ => return None,
        };
        Some(Type { bytes, is_float, is_signed })
    };
    let found = [("UInt", false, false), ("Int", false, true), ("Float", true, true)]
        .into_iter()
        .find_map(|(prefix, is_float, is_signed)| number(is_float, is_signed, name.strip_prefix(prefix)?));
    found.ok_or_else(|| {
        malformed(array, format!("the type `{}` of the array is not known", name.escape_debug()))
    })
}
